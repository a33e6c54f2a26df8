"""The long forms of the tests that try to break things, as a table: cases tried, findings, seconds.

`python -m torture [LAYER ...]`, from the folder of the tests, prints the table and writes it to build/torture.md. The
last layer is the short form of `make sanitize`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "torture.md"
LAYERS = {
    "text tables, damaged": ["tests/io/test_csv_damage.py", "tests/io/test_csv_encoding.py"],
    "text tables, as people write them": ["tests/io/test_written_numbers.py", "tests/io/test_csv.py"],
    "Parquet files, links and outputs, damaged": ["tests/test_damaged_inputs.py"],
    "model files, tampered": ["tests/io/test_hostile_models.py", "tests/io/test_model_file.py"],
    "outputs that would do harm": ["tests/test_output_safety.py"],
    "killed processes": ["tests/io/test_litter.py"],
    "faults: signals, full and sealed disks": ["tests/test_faults.py"],
    "faulty tables, every command": ["tests/test_table_faults.py"],
    "faulty arrays, every estimator": ["tests/contracts/test_fault_contract.py"],
    "load": ["tests/test_load.py"],
    "fuzzers of loader, sniffer and arguments": ["tests/test_fuzzing.py"],
    "large and small numbers": [
        "tests/contracts/test_magnitude_contract.py",
        "tests/test_magnitudes.py",
        "tests/linear/test_overflow.py",
    ],
    "certified digits": ["tests/linear/test_certified_digits.py"],
    "properties of estimators": ["tests/contracts/test_property_contract.py"],
    "bits on any number of threads": ["tests/contracts/test_thread_contract.py"],
    "resource limits": ["tests/auto/budget"],
    "residuals of solvers": ["tests/linear/test_residual_ratios.py"],
}


class Result(NamedTuple):
    """Counts of a layer: cases (a test counts as one, or as many as it records), findings and seconds."""

    cases: int
    findings: list[str]
    seconds: float


def run(files: list[str], report: Path) -> Result:
    """Run the tests of a layer in their long form."""
    # Reports of the other family have no numbers of cases: pytest in one process refuses to record them.
    recorded = ["-o", "junit_family=xunit1", f"--junitxml={report}"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *recorded, *files]
    environment = os.environ | {"MERCER_TEST_LENGTH": "long"}
    code = subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=False).returncode
    if not report.exists():
        return Result(0, [f"pytest ended with code {code}"], 0.0)
    tests = list(ElementTree.parse(report).iter("testcase"))
    findings = [
        test.get("name", "") for test in tests if test.find("failure") is not None or test.find("error") is not None
    ]
    if code not in (0, 1):
        findings.append(f"pytest ended with code {code}")
    return Result(sum(map(_cases, tests)), findings, sum(float(test.get("time", 0)) for test in tests))


def _cases(test: ElementTree.Element) -> int:
    recorded = [each.get("value", "1") for each in test.iter("property") if each.get("name") == "cases"]
    return int(recorded[0]) if recorded else 1


def sanitized() -> tuple[str, list[str]]:
    """The line and the findings of the compiled core with sanitizers, in the short form."""
    environment = {name: value for name, value in os.environ.items() if name != "MERCER_TEST_LENGTH"}
    begin = time.perf_counter()
    command = [sys.executable, "-m", "sanitize"]
    done = subprocess.run(command, env=environment, cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True, check=False)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line[:1] == "|"]
    cases = sum(int(row[1].replace(",", "")) for row in rows[2:])
    findings = [] if done.returncode == 0 else [f"- sanitizers: {done.stdout[-3000:]}"]
    return f"| sanitizers and fuzzers | {cases:,} | {len(findings)} | {time.perf_counter() - begin:.0f} |", findings


def main() -> int:
    """Run the layers named on the command line, or all."""
    OUT.parent.mkdir(exist_ok=True)
    lines = ["| layer | cases | findings | seconds |", "|---|---|---|---|"]
    found: list[str] = []
    for name, files in LAYERS.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        report = OUT.parent / "torture.xml"
        report.unlink(missing_ok=True)
        result = run(files, report)
        lines.append(f"| {name} | {result.cases:,} | {len(result.findings)} | {result.seconds:.0f} |")
        found += [f"- {name}: {each}" for each in result.findings]
    if not sys.argv[1:] or "sanitizers" in sys.argv[1:]:
        line, findings = sanitized()
        lines.append(line)
        found += findings
    text = "\n".join([*lines, "", *(found or ["No findings."])]) + "\n"
    OUT.write_text(text, encoding="utf-8")
    print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
