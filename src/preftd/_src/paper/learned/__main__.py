"""Quick looks at the benchmark of learned preferences, while you change them.

    python -m preftd._src.paper.learned "corridor 5" "grid 8"     cases whose names contain these
    python -m preftd._src.paper.learned --list                    all names
    python -m preftd._src.paper.learned --seeds 8 --out folder corridor
    python -m preftd._src.paper.learned kinds                     cases of groups with such names
    python -m preftd._src.paper.learned --tables docs             write tables of results on file

Results that do not depend on learned preferences are stored in the folder (default:
results/learned); learned preferences are always recomputed.
"""

import argparse
from pathlib import Path

from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.quick_look import lines
from preftd._src.paper.learned.table import write_tables


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m preftd._src.paper.learned")
    parser.add_argument(
        "names", nargs="*", help="parts of names of cases, or groups (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="list all names")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", type=Path, help="write tables on file into pages of a folder")
    parser.add_argument("--out", type=Path, default=Path("results/learned"))
    asked = parser.parse_args()
    if asked.list:
        print(*CASES, sep="\n")
        return
    if asked.tables is not None:
        write_tables(asked.tables)
        return
    for line in lines(asked.names, asked.out, asked.seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
