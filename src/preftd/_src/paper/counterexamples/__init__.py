"""Two chains on which TD(λ) diverges and PTD converges: theory and simulation."""
