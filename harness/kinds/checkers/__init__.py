"""Checkers: code of a data set or the user that judges answers where no rule can."""
