"""`python -m preftd` is the command `preftd`."""

from preftd.cli import main

main()
