"""Run the benchmarks named on the command line, or all."""

from __future__ import annotations

import argparse
import importlib
import os

import mercer
from mercer._numeric import isa

ALL = [
    "explore",
    "landmarks",
    "learned_metric",
    "learning_dictionary",
    "lifts",
    "linear",
    "losses",
    "machines",
    "memory_limit",
    "projections",
    "random_features",
    "sequences",
    "selection_greedy",
    "selection_filters",
    "selection_known",
    "selection_l1",
    "serving",
    "sketches",
    "streaming",
    "tables",
    "text",
    "trees",
    "two_sample",
    "updates",
    "wide_tables",
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(ALL)} (default: all)")
    parser.add_argument("--data", help="folder of Parquet files for the benchmarks of accuracy")
    arguments = parser.parse_args()
    names = arguments.names or ALL
    if arguments.data:
        os.environ["MERCER_BENCH_DATA"] = arguments.data
        os.environ["MERCER_DATA"] = arguments.data
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        parser.error(f"no benchmark named {unknown[0]!r}; there are {', '.join(ALL)}")
    print(f"mercer {mercer.__version__}, compiled core: {isa()}")
    for name in names:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    main()
