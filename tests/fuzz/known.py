"""Arguments that are not refused yet where they should be, by callable: to be emptied."""

KNOWN: frozenset[str] = frozenset()
