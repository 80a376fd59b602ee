"""Preferences in JAX: returns, traces and learners as pure functions."""
