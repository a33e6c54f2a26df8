"""The command line of the benchmark."""

from __future__ import annotations

import argparse

from benchmarks.record import RESULTS, load, recording
from benchmarks.scale import run
from benchmarks.scale.options import Options
from benchmarks.scale.sections import SECTIONS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--gigabytes", type=float, default=Options.gigabytes, help="size of the generated CSV")
    parser.add_argument("--limit", type=float, default=Options.limit, help="resident size in gigabytes")
    parser.add_argument("--efforts", default="fast", help="fast,normal for example")
    parser.add_argument("--enforced", action="store_true", help="let the kernel end fits beyond the limit")
    parser.add_argument("--rows", type=int, default=Options.rows)
    parser.add_argument("--predicted", type=int, default=Options.predicted)
    parser.add_argument("--folder", help="for generated files; a temporary one by default")
    parser.add_argument("--data", help="folder of Parquet tables for the section `sample`", default=Options.data)
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in the place of those with their columns"
    )
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    sizes = {name: value for name, value in vars(given).items() if name not in ("names", "efforts", "record")}
    options = Options(**sizes, efforts=tuple(given.efforts.split(",")))
    if given.record:
        run_and_record(options, given.names)
    else:
        run(options, given.names)


def run_and_record(options: Options, names: list[str]) -> None:
    """Run some sections and keep what the record has of the others: sections take from minutes to an hour."""
    before, log = load("scale"), RESULTS / "scale.log"
    printed = log.read_text(encoding="utf-8") if log.exists() else ""
    with recording("scale") as record:
        run(options, names)
        columns = [each["columns"] for each in record["figures"]]
        kept = [each for each in (before or {"figures": []})["figures"] if each["columns"] not in columns]
        record["figures"][:0] = kept
    log.write_text(printed + log.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    main()
