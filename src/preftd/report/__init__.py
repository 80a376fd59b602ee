"""Pictures and pages made of results."""
