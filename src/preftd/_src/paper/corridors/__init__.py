"""Corridors of hidden states (figures 3, A.2 to A.5): learning the values at their ends."""
