"""Problems that ask for a value, not for a program."""
