"""Restrictions of a sandbox: namespaces, seccomp, Landlock; and a probe of them."""
