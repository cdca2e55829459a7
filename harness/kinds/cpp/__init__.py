"""C++: its compiler and driver, and compiling in the sandbox."""
