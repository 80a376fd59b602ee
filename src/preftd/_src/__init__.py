"""How preftd works inside: what users may import is next to this folder."""
