"""Signals of a stream: preferences β in [0, 1], and interests of 0 or more."""
