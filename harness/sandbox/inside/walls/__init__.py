"""The walls of a sandbox: namespaces, seccomp, Landlock, and the probe that tries them."""
