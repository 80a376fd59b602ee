"""Preferences in TorchRL: a value estimator that reads β and gain; needs the extra `torchrl`."""
