"""Mutation testing: small faults put into the source one at a time; tests that do not notice one are too weak.

`python -m mutation [ROOM ...] [--sample N] [--seed S]`, from the folder of the tests, takes a random sample of mutants
of each room (stats, _numeric, io), runs on each the tests that reach its line, in a copy of the project, and prints the
score with a 95 % interval (Wilson), and the survivors. Mutants: another comparison, another operator, another
constant, `and` for `or`, a negated condition, None returned, a statement left out. Those listed in EQUIVALENT behave as
the original.

Definitions that have a compiled twin are tested as definitions: their tests compare the two.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from isolated import check_copy, variables_of_copy

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "mutation.json"
#: Tests of each room. A run of them with coverage tells which ones reach a line.
ROOMS = {
    "stats": ["tests/stats", "tests/contracts/test_statistic_contract.py", "tests/linear/test_ridge.py"],
    "_numeric": [
        *("tests/_numeric", "tests/text", "tests/project", "tests/learn/test_tree_boosting.py"),
        *("tests/machines/test_hinge.py", "tests/machines/test_regressor.py"),
    ],
    "io": ["tests/io", "tests/test_damaged_inputs.py", "tests/test_cli_rows.py", "tests/test_cli_bad_rows.py"],
}
MAX_TESTS = 40  # per mutant; those that reach the fewest lines come first
SECONDS = 600
#: file:line:mutant of mutants that cannot be told from the original, with the reason.
EQUIVALENT: dict[str, str] = {
    "stats/loss.py:17:1 -> 2": "the size of a block, on which no bit depends",
    "stats/loss.py:17:19 -> 20": "the size of a block, on which no bit depends",
    "_numeric/linalg/tensor.py:53:1 -> 2": "the least number of rows of a block, on which no bit depends",
    "_numeric/linalg/column_kernels.py:68:Mult -> Add": "the size of a block, on which no bit depends",
    "_numeric/hashing/splitmix.py:255:0 -> 1": "the date in place of a missing one, whose key is then replaced",
    "_numeric/solvers/descent.py:105:True -> False": "rows and order are of one length wherever they come from",
    "_numeric/solvers/omp.py:63:Gt -> GtE": "an atom at exactly the least distance has a gain of rounding errors",
}

_COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitXor: ast.BitOr, ast.MatMult: ast.MatMult,
}  # fmt: skip


class Mutant(NamedTuple):
    """A fault: the file, the line, what is changed, and the number of the change in the file."""

    file: str
    line: int
    what: str
    number: int


class _Changes(ast.NodeTransformer):
    """Counts the possible changes of a module, and applies the one of a number."""

    def __init__(self, number: int = -1):
        self.number, self.count = number, 0
        self.found: list[tuple[int, str]] = []

    def _change(self, node: ast.AST, what: str) -> bool:
        self.found.append((node.lineno, what))  # type: ignore[attr-defined]
        self.count += 1
        return self.count - 1 == self.number

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, kept = [], node.decorator_list
        docstring = node.body[:1] if ast.get_docstring(node) is not None else []
        node.body = node.body[len(docstring) :]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.body = [each for statement in node.body for each in self._statement(statement)]
        node.body, node.decorator_list = docstring + node.body or [ast.Pass()], kept
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list, kept = [], node.decorator_list  # frozen or not is nothing that a result shows
        self.generic_visit(node)
        node.decorator_list = kept
        return node

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        removable = isinstance(node, (ast.Expr, ast.AugAssign, ast.Raise)) and not _is_text(node)
        if removable and self._change(node, "statement left out"):
            return [ast.copy_location(ast.Pass(), node)]
        found = self.visit(node)
        return found if isinstance(found, list) else [found]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements and isinstance(node, ast.stmt):
                setattr(node, name, [each for statement in statements for each in self._statement(statement)])
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(node, ast.stmt):
                continue
            if name in ("annotation", "returns", "type_comment", "msg", "exc"):
                continue
            if isinstance(value, list):
                setattr(node, name, [self.visit(each) if isinstance(each, ast.AST) else each for each in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for i, operator in enumerate(node.ops):
            if self._change(node, f"{type(operator).__name__} -> {_COMPARE[type(operator)].__name__}"):
                node.ops[i] = _COMPARE[type(operator)]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        other = _ARITHMETIC[type(node.op)]
        mutable = not (isinstance(node.op, other) or _is_text(node.left) or _is_text(node.right))
        if mutable and self._change(node, f"{type(node.op).__name__} -> {other.__name__}"):
            node.op = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        if self._change(node, f"{type(node.op).__name__} -> {other.__name__}"):
            node.op = other()
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self._change(node, "condition negated"):
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) and self._change(node, f"{node.value} -> {not node.value}"):
            return ast.copy_location(ast.Constant(not node.value), node)
        is_number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        if is_number and self._change(node, f"{node.value} -> {node.value + 1}"):  # type: ignore[operator]
            return ast.copy_location(ast.Constant(node.value + 1), node)  # type: ignore[operator]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        nothing = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        if not nothing and self._change(node, "None returned"):
            node.value = ast.copy_location(ast.Constant(None), node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # messages


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))


def mutants(room: str) -> Iterator[Mutant]:
    """All mutants of a room."""
    for path in sorted((ROOT / "src" / "mercer" / room).rglob("*.py")):
        changes = _Changes()
        changes.visit(ast.parse(path.read_text(encoding="utf-8")))
        name = path.relative_to(ROOT).as_posix()
        for number, (line, what) in enumerate(changes.found):
            yield Mutant(name, line, what, number)


def mutated(mutant: Mutant) -> str:
    """The source of the module with the fault."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    return ast.unparse(ast.fix_missing_locations(_Changes(mutant.number).visit(copy.deepcopy(tree))))


class LineTests:
    """The tests that reach each line, from the contexts of a run with coverage; the most specific ones first."""

    def __init__(self, data: Path, source: Path):
        from coverage import CoverageData

        self._data, self._source = CoverageData(str(data)), source
        self._data.read()
        self._n_lines: Counter[str] = Counter()
        for name in self._data.measured_files():
            for contexts in self._data.contexts_by_lineno(name).values():
                self._n_lines.update(contexts)

    def of(self, mutant: Mutant) -> list[str]:
        """Tests as pytest names them; of lines that run at import, those of the file."""
        path = self._source / mutant.file
        lines = self._data.contexts_by_lineno(str(path))
        found = [] if _runs_at_import(path, mutant.line) else [name for name in lines.get(mutant.line, []) if name]
        found = found or sorted({name for contexts in lines.values() for name in contexts if name})
        found.sort(key=lambda name: (self._n_lines[name], name))
        return found[:MAX_TESTS]


def _runs_at_import(path: Path, line: int) -> bool:
    """Whether a line is in no function; then the test that happened to import the module first says nothing."""
    functions = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef))
    return not any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in functions)


def measure(room: str, copied: Path) -> Path:
    """Run the tests of a room with coverage in the copy; the file of its data."""
    data = copied / f"coverage-{room}"
    settings = copied / "mutation.coveragerc"
    settings.write_text(f"[run]\nsource = {copied}/src/mercer\ndata_file = {data}\n")
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", *ROOMS[room]]
    variables = variables_of_copy(copied / "src", copied / "tests")
    subprocess.run([*command, "-p", "line_contexts"], cwd=copied, env=variables, stdout=sys.stderr, check=True)
    return data


class Trial:
    """Runs of tests on mutants in a copy of the project; a failure counts if the test passes on the original."""

    def __init__(self, copied: Path):
        self._copied = copied
        self._controls: dict[tuple[str, ...], bool] = {}

    def kills(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether a test that reaches the line fails because of the fault. Too long is a death."""
        path = self._copied / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(mutated(mutant), encoding="utf-8")
        try:
            failed = self._failed(tests)
        except subprocess.TimeoutExpired:
            return True
        finally:
            path.write_text(original, encoding="utf-8")
        return bool(failed) and self._passes(failed)

    def _failed(self, tests: list[str]) -> tuple[str, ...]:
        """The first test that fails; all of them if pytest ends before any runs."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        done = subprocess.run(
            command, cwd=self._copied, env=_environment(self._copied), capture_output=True, timeout=SECONDS, check=False
        )
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        named = [line.removeprefix("FAILED ").split(" - ")[0] for line in lines if line.startswith("FAILED ")]
        return () if done.returncode == 0 else tuple(named) or tuple(tests)

    def _passes(self, tests: tuple[str, ...]) -> bool:
        if tests not in self._controls:
            self._controls[tests] = not self._failed(list(tests))
            if not self._controls[tests]:
                print("fails without a fault", *tests[:3], file=sys.stderr, flush=True)
        return self._controls[tests]


def _compiled_core() -> str:
    from mercer._numeric import _native

    return _native.__file__


def _environment(copied: Path) -> dict[str, str]:
    return variables_of_copy(copied / "src")


def interval(killed: int, n: int) -> tuple[float, float]:
    """The 95 % interval of Wilson of a proportion."""
    z, p = 1.96, killed / n
    center, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (center - half) / (1 + z * z / n), (center + half) / (1 + z * z / n)


def key(mutant: Mutant) -> str:
    """The name of a mutant in EQUIVALENT."""
    return f"{mutant.file.removeprefix('src/mercer/')}:{mutant.line}:{mutant.what}"


def score(room: str, copied: Path, lines: LineTests, n: int, seed: int) -> dict:
    """Try a sample of the mutants of a room."""
    everything = [each for each in mutants(room) if key(each) not in EQUIVALENT]
    sample = random.Random(seed).sample(everything, min(n, len(everything)))
    alive, killed, trial = [], 0, Trial(copied)
    for mutant in sample:
        tests = lines.of(mutant)
        if not (tests and trial.kills(mutant, tests)):
            alive.append(key(mutant))
            print("survives", key(mutant), "" if tests else "(no test reaches it)", file=sys.stderr, flush=True)
        else:
            killed += 1
            print("killed", key(mutant), file=sys.stderr, flush=True)
    low, high = interval(killed, len(sample))
    score = f"{killed / len(sample):.1%} ({low:.1%} to {high:.1%})"
    print(f"{room}: {killed} of {len(sample)} mutants killed, {score}, of {len(everything)} in all", flush=True)
    return {"mutants": len(everything), "sample": len(sample), "killed": killed, "survivors": alive}


def main() -> int:
    """Score the rooms; 1 if one is below 80 %."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rooms", nargs="*", default=list(ROOMS))
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coverage", type=Path, help="data of an earlier run, with the source folder it was made in")
    parser.add_argument("--source", type=Path)
    given = parser.parse_args()
    scores = {}
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "project"
        ignored = shutil.ignore_patterns(".venv", ".git", "build", "__pycache__", "docs")
        shutil.copytree(ROOT, copied, ignore=ignored)
        shutil.copy(_compiled_core(), copied / "src" / "mercer" / "_numeric")
        check_copy(copied / "src", _environment(copied))
        for room in given.rooms:
            data = given.coverage or measure(room, copied)
            lines = LineTests(data, given.source or copied)
            scores[room] = score(room, copied, lines, given.sample, given.seed)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(scores, indent=1), encoding="utf-8")
    return int(any(each["killed"] < 0.8 * each["sample"] for each in scores.values()))


if __name__ == "__main__":
    sys.exit(main())
