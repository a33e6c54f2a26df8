"""Run the compiled core with AddressSanitizer and UndefinedBehaviorSanitizer: tests, then fuzzers.

`python -m sanitize`, from the folder of the tests, builds the core and the fuzzers below build/sanitize, runs the tests
that call compiled code on it, then every fuzzer, and prints a table: executions, findings, seconds. With
MERCER_TEST_LENGTH=long each fuzzer is executed a million times. Fuzzers of bytes need clang (Debian: clang and
libclang-rt-14-dev) and are native (libFuzzer, native/fuzz/); those of models, tables and arguments are in fuzzing.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from estimates import LONG
from isolated import check_copy, variables_of_copy

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "sanitize"
#: Tests that call compiled code on all kinds of input, and those of model files.
TESTS = ["tests/_numeric", "tests/text", "tests/learn/test_tree_features.py", "tests/learn/test_tree_boosting.py"]
TESTS += ["tests/learn/additive", "tests/kernels/test_strings.py", "tests/io/test_golden_files.py"]
N_RUNS = 1_000_000 if LONG else 20_000
#: Compiled functions take longer, and are called with the arguments of one seed.
N_ARGUMENTS = 1_000_000 if LONG else 5_000
NATIVE = {"tokenizer": [], "trees": ["native/trees/prediction_kernels.cpp", "native/common/dispatch.cpp"]}
#: Bytes of an input: texts beyond two blocks of 64 bytes, forests of a few dozen nodes.
MAX_BYTES = {"tokenizer": 160, "trees": 400}
FLAGS = ["-std=c++20", "-O2", "-g1", "-w", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
#: Traces of comparisons take a quarter of the time, and there are no magic numbers to be found.
FLAGS += ["-fno-sanitize-coverage=trace-cmp"]
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")


def build() -> Path:
    """Compile the core with sanitizers, in a copy of the package that links to the Python files."""
    where = ["-S", str(ROOT), "-B", str(BUILD), f"-DPython_EXECUTABLE={sys.executable}"]
    how = ["-DMERCER_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"]
    subprocess.run(["cmake", *where, *how], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(BUILD), "-j", str(os.cpu_count())], check=True, stdout=subprocess.DEVNULL)
    package = BUILD / "src" / "mercer"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "mercer", package, ignore=shutil.ignore_patterns("_native*", "__pycache__"))
    (library,) = BUILD.glob("_native*.so")
    shutil.copy(library, package / "_numeric")
    return package.parent


def environment(source: Path) -> dict[str, str]:
    """Variables under which Python runs the sanitized core; leaks are those of Python itself."""
    compiler = os.environ.get("CXX", "c++")
    found = [subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip() for name in LIBRARIES]
    options = "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2000"
    return variables_of_copy(source, ROOT / "tests") | {
        "LD_PRELOAD": ":".join(found),
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def run_tests(variables: dict[str, str]) -> list[str]:
    """The findings of the tests: a failure, or the end of the process."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [(done.stdout + done.stderr)[-3000:]]


def run_native(name: str) -> list[str]:
    """The findings of a fuzzer of native/fuzz/."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program, corpus = BUILD / f"fuzz-{name}", BUILD / f"corpus-{name}"
    compiler = shutil.which("clang++") or shutil.which("clang++-14")
    if compiler is None:
        raise SystemExit("clang is missing: apt-get install clang libclang-rt-14-dev")
    sources = [f"native/fuzz/{name}.cpp", *NATIVE[name]]
    command = [compiler, *FLAGS, "-Inative", "-DMERCER_LEVEL=baseline", *sources, "-o", str(program)]
    subprocess.run(command, cwd=ROOT, check=True)
    corpus.mkdir(exist_ok=True)
    options = [f"-runs={N_RUNS}", f"-max_len={MAX_BYTES[name]}", "-seed=1", "-timeout=60"]
    options.append(f"-artifact_prefix={BUILD}/{name}-")
    variables = os.environ | {"MERCER_UNICODE": str(_unicode_tables())}
    done = subprocess.run([program, *options, corpus], env=variables, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [done.stderr[-3000:]]


def _unicode_tables() -> Path:
    from mercer._numeric.text.unicode import unicode_tables

    path = BUILD / "unicode.bin"
    path.write_bytes(b"".join(table.tobytes() for table in unicode_tables()))
    return path


def run_python(name: str, n: int, variables: dict[str, str]) -> list[str]:
    """The findings of a fuzzer of fuzzing.py, cut into processes; one that dies is a finding, with its seed."""
    found, first, log = [], 0, BUILD / f"{name}.seed"
    while first < n:
        last = min(n, first + 50_000)
        command = [sys.executable, "-m", "fuzzing", name, str(first), str(last)]
        with_log = variables | {"MERCER_FUZZ_LOG": str(log)}
        done = subprocess.run(command, cwd=ROOT / "tests", env=with_log, capture_output=True, text=True, check=False)
        if done.returncode:
            seed = int(log.read_text()) if log.exists() else first
            found.append(f"{name}, seed {seed}: {done.stderr[-3000:]}")
            first = seed + 1
        else:
            found += [f"{name}, seed {each['seed']}: {each['error']}" for each in json.loads(done.stdout)["findings"]]
            first = last
        if len(found) > 20:
            break
    return found


def main() -> int:
    """Run all, or the parts named on the command line."""
    wanted = sys.argv[1:]
    variables: dict[str, str] = {}
    if not wanted or set(wanted) - set(NATIVE):  # others run on the whole core, which takes minutes to compile
        source = build()
        variables = environment(source)
        check_copy(source, variables)
    parts: dict[str, tuple[int, Callable[[], list[str]]]] = {"tests": (1, lambda: run_tests(variables))}
    parts |= {name: (N_RUNS, lambda name=name: run_native(name)) for name in NATIVE}  # type: ignore[misc]
    for name, n in {"loader": N_RUNS, "sniffer": N_RUNS, "arguments": N_ARGUMENTS}.items():
        parts[name] = n, lambda name=name, n=n: run_python(name, n, variables)  # type: ignore[misc]
    print("| part | executions | findings | seconds |\n|---|---|---|---|", flush=True)
    findings: list[str] = []
    for name, (n, run) in parts.items():
        if wanted and name not in wanted:
            continue
        begin = time.perf_counter()
        found = run()
        print(f"| {name} | {n:,} | {len(found)} | {time.perf_counter() - begin:.0f} |", flush=True)
        findings += found
    print("\n\n".join(findings) or "No findings.")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
