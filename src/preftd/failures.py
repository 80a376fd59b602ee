"""What can go wrong although nothing is wrong with the input."""


class FailedError(RuntimeError):
    """Something could not be finished; the message says what and how to go on, in a sentence."""
