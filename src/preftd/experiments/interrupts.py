"""Ctrl-C while waiting for others to compute."""

import signal


def heed_interrupts() -> None:
    """Let Ctrl-C wake a thread that waits.

    polars, once loaded, handles the signal in a way that has waiting go on, for hours if need be.
    """
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
