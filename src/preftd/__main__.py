"""`python -m preftd` is the command `preftd`."""

from preftd._src.cli import main

main()
