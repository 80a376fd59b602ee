"""Experiments: learners on tasks; one evaluation, or studies that are stored and resumable."""
