"""Networks with one hidden layer, with several step sizes at once."""
