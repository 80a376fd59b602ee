"""Least squares with the coefficients of a rule."""
