"""Run the benchmarks named on the command line, or all."""

from __future__ import annotations

import argparse
import importlib

import mercer
from mercer._numeric import isa

ALL = [
    "landmarks",
    "learned_metric",
    "lifts",
    "linear",
    "machines",
    "projections",
    "random_features",
    "sketches",
    "streaming",
    "trees",
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(ALL)} (default: all)")
    names = parser.parse_args().names or ALL
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        parser.error(f"no benchmark named {unknown[0]!r}; there are {', '.join(ALL)}")
    print(f"mercer {mercer.__version__}, compiled core: {isa()}")
    for name in names:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    main()
