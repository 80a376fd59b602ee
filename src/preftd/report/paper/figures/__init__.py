"""Drawings of the paper's figures: each takes results by the name of their study."""
