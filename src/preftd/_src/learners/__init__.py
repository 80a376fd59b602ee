"""Learners: coefficients and experience become weights."""
