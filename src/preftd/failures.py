"""The base class of failures that are not caused by invalid input."""


class FailedError(RuntimeError):
    """A command failed; the message is one sentence with the cause and the remedy."""
