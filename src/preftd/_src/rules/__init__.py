"""Rules turn a preference β into the two numbers per step that learners use: decay and gain."""
