"""Preferences in PyTorch: returns, trace optimisers, learners around your module; needs torch."""
