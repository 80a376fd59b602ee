"""Figures of a study, and what figures are made of."""
