"""The random walk (figures 2 and A.1): how the error depends on the step size, for each λ and β."""
