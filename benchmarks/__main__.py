"""Run benchmarks, record their results, and compare them with the recorded ones.

python -m benchmarks speed|accuracy|memory|scale|all [--data DIR] [--only NAME ...]
python -m benchmarks gate [--against DIR]     # are the recorded ratios as good as those of DIR?
python -m benchmarks render                   # write RESULTS.md and its plots from results/*.json
python -m benchmarks list
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
import traceback
from pathlib import Path

from benchmarks.record import RESULTS, recording
from benchmarks.registry import BENCHMARKS, GROUPS, NAMES, find


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.data:
        os.environ["MERCER_BENCH_DATA"] = arguments.data
    if arguments.smoke:
        os.environ["MERCER_BENCH_SMOKE"] = "1"
    if arguments.what == "gate":
        from benchmarks.gate import gate

        return gate(Path(arguments.against) if arguments.against else None)
    if arguments.what == "render":
        from benchmarks.render import write_results

        print(f"wrote {write_results()}")
        return 0
    if arguments.what == "list":
        print("\n".join(f"{each.group:<9} {each.name:<20} {each.title}" for each in BENCHMARKS))
        return 0
    only = arguments.only or ([arguments.what] if arguments.what in NAMES else [])
    group = None if arguments.what in NAMES else arguments.what
    return run(find(group, only), Path(arguments.out))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choices = [*GROUPS, "all", "gate", "render", "list", *NAMES]
    parser.add_argument(
        "what", nargs="?", default="all", choices=choices, metavar="GROUP", help="a group or a benchmark"
    )
    parser.add_argument("--data", help="folder of Parquet files for the benchmarks of accuracy")
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help="only these benchmarks of the group")
    parser.add_argument("--out", default=str(RESULTS), help="folder of the results (default: benchmarks/results)")
    parser.add_argument("--against", help="gate: folder of earlier results (default: those of the last commit)")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that everything runs")
    return parser


def run(chosen: list, out: Path) -> int:
    """Run the benchmarks in turn with progress, continue after a failure, and return the number of failures."""
    import mercer
    from mercer._numeric import isa

    print(f"mercer {mercer.__version__}, compiled core: {isa()}; results go to {out}")
    failed = []
    for number, each in enumerate(chosen, 1):
        print(f"\n== [{number}/{len(chosen)}] {each.name}: {each.title}", flush=True)
        start = time.perf_counter()
        try:
            with recording(each.name, out):
                importlib.import_module(f"benchmarks.{each.name}").run()
        except Exception:
            traceback.print_exc()
            failed.append(each.name)
        print(f"-- {each.name}: {time.perf_counter() - start:.1f} s", flush=True)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
