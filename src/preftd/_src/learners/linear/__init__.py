"""Linear learners: online, and with several step sizes at once."""
