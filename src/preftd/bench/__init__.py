"""Speed and memory, measured on the machine at hand and reported as a table."""
