"""Long benchmarks that append each result to a file of JSON lines, and do not run again what is already there."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record


def parser(name: str, doc: str, sets: Sequence[str]) -> argparse.ArgumentParser:
    """Options that all of these benchmarks have: the data, the sets, and the file of the results."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=doc.split("\n")[0])
    made.add_argument("--data", default=os.environ.get("MERCER_BENCH_DATA"), help="folder of Parquet files")
    made.add_argument("--sets", default=",".join(sets))
    made.add_argument("--out", default=f"{name}.jsonl")
    made.add_argument("--table", action="store_true", help="print the table of the results so far and stop")
    return made


def main(asked: argparse.Namespace, run: Callable[[Any], None], render: Callable[[list[dict]], str]) -> None:
    """Run what is missing, unless only the table is asked for, and print and record the table of all results."""
    if not asked.table:
        run(asked)
    text = render(results(Path(asked.out)))
    print(text)
    lines = text.splitlines()
    cells = [[each.strip() for each in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    if len(cells) > 2:
        title = "; ".join(line for line in lines if line and not line.startswith("|"))
        record.add("figures", {"title": title, "columns": cells[0], "rows": cells[2:]})


def results(path: Path) -> list[dict]:
    """The results so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, row: dict) -> None:
    """Add a result."""
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")
