"""Drawings of the paper's figures: each takes results by the name of their study."""

WIDE = 5.4
"""Of every figure, in inches: letters of 7.5 points can still be read when it is made as narrow as
a column of a page, 3.3."""
