"""The command line of the benchmark."""

from __future__ import annotations

import argparse

from benchmarks.scale import run
from benchmarks.scale.options import Options
from benchmarks.scale.sections import SECTIONS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--gigabytes", type=float, default=Options.gigabytes, help="size of the generated CSV")
    parser.add_argument("--limit", type=float, default=Options.limit, help="resident size in gigabytes")
    parser.add_argument("--efforts", default="fast", help="fast,normal for example")
    parser.add_argument("--enforced", action="store_true", help="also with the limit enforced by the kernel")
    parser.add_argument("--rows", type=int, default=Options.rows)
    parser.add_argument("--predicted", type=int, default=Options.predicted)
    parser.add_argument("--folder", help="for generated files; a temporary one by default")
    parser.add_argument("--data", help="folder of Parquet tables for the section `sample`", default=Options.data)
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    sizes = {name: value for name, value in vars(given).items() if name not in ("names", "efforts")}
    run(Options(**sizes, efforts=tuple(given.efforts.split(","))), given.names)


if __name__ == "__main__":
    main()
