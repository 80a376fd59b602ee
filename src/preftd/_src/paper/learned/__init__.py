"""How well preferences do that are learned from the stream alone: a benchmark beyond the paper."""
