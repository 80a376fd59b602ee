"""Errors that end a command with one sentence: bad input (exit code 2) and failures (exit code 1).

This module imports nothing, so that the command line can print help at once.
"""


class InputError(ValueError):
    """The input cannot be used; the message says why, and how to correct it."""


class FailedError(RuntimeError):
    """A command failed; the message is one sentence with the cause and the remedy."""


class DidNotConvergeError(ArithmeticError):
    """A linear system could not be solved accurately."""
