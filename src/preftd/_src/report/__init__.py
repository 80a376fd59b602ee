"""Tables and figures of study results."""
