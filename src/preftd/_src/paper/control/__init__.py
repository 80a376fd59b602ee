"""Control, and what preferences do for it."""
