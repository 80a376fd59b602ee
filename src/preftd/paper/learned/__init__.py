"""Learned preferences, compared with other ways to learn a preference or λ."""
