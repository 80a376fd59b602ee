"""Failures that are not the fault of the input."""


class FailedError(RuntimeError):
    """Something could not be finished; the message says what and what to do, in a sentence."""
