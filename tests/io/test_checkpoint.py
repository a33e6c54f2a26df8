"""Checkpoints: an interrupted fit continues with the same bits, and a folder that cannot be trusted is refused."""

import importlib
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import mercer
from bits import bits
from estimates import LONG
from mercer._runtime.errors import MercerError, ParameterError
from mercer.io.checkpoint import Checkpoint, CheckpointError, folder, folds
from mercer.io.checkpoint.states import dumps, load_state
from mercer.source import EngineError, ParquetSource, accumulator, base, files
from mercer.source.recording import remembered
from mercer.stats import Gram, Moments, Sample

N = 3000
ROOT = Path(mercer.__file__).parent
#: Modules that take the rows of a block or part from another. Only those loaded by now keep the sizes of every fit.
TAKERS = [
    ".".join(["mercer", *path.relative_to(ROOT).with_suffix("").parts])
    for path in sorted(ROOT.rglob("*.py"))
    if re.search(r"import .*(BLOCK|PART)_ROWS", path.read_text())
]
for name in TAKERS:
    importlib.import_module(name)


class Stopped(BaseException):
    """As Ctrl-C."""


@pytest.fixture(autouse=True)
def _small_parts_written_at_once(monkeypatch, tmp_path):
    for module in (accumulator, base, files, folds):
        monkeypatch.setattr(module, "BLOCK_ROWS", 128, raising=False)
        monkeypatch.setattr(module, "PART_ROWS", 256)
    monkeypatch.setattr(folder.Checkpoint.__init__, "__defaults__", (True, 0.0))
    monkeypatch.setattr(folder, "_WRITE_SHARE", 0.0)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 3))
    y = X[:, 0] - np.abs(X[:, 1]) + 0.3 * rng.normal(size=N)
    labels = np.where(np.arange(N) % 300 == 7, "rare", np.where(y > 0, "high", "low"))
    city = rng.choice(["Bern", "Oslo", "Rome"], N)
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "city": city, "y": y, "label": labels})


@pytest.fixture
def rows(table, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table.select(["a", "b", "c", "y"]), path, row_group_size=700)
    return path


def stop_after(monkeypatch, n):
    """Stop the process after so many writes; return the counter of writes."""
    written, write = [], folder.Checkpoint.write

    def counted(self, name, data):
        write(self, name, data)
        written.append(name)
        if len(written) == n:
            raise Stopped

    monkeypatch.setattr(folder.Checkpoint, "write", counted)
    return written


def stopped(monkeypatch, n, call):
    """Whether a call is stopped after `n` writes."""
    with monkeypatch.context() as patched:
        stop_after(patched, n)
        try:
            call()
        except Stopped:
            return True
    return False


def folded(source, statistic, **belongs_to):
    with Checkpoint("kept", belongs_to).recording():
        return bits(source.fold(statistic).finish())


def kept_with(error):
    """A checkpoint of one value that ended with an error."""
    with Checkpoint("kept", {}).recording() as checkpoint:
        checkpoint.save("x.value", 1)
        raise error


def fitted(data, target, **options):
    model = mercer.fit(data, target, effort="fast", memory=0.002, report=False, **options)
    report = model.report()
    return bits(model.predict(data)), report["holdout"], report["notes"]


def test_only_some_modules_have_small_parts():
    sizes = {name: vars(sys.modules[name]).get("BLOCK_ROWS") for name in TAKERS}
    small = {module.__name__ for module in (base, files, folds)}
    assert {name for name, size in sizes.items() if size == 128} == small
    assert len(TAKERS) > len(small)


@pytest.mark.parametrize("statistic", [Moments(), Gram(3), Sample(50)], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("n", [2, 5, 9])
def test_a_fold_continues_with_the_same_bits(statistic, n, rows, monkeypatch):
    source = ParquetSource(rows, target="y").map(lambda block: block.with_X(np.tanh(block.X)))
    here = bits(source.fold(statistic).finish())
    assert stopped(monkeypatch, n, lambda: folded(source, statistic, rows="x"))
    read = []
    counted = source.map(lambda block: [read.append(block.start), block][1])
    with Checkpoint("kept", {"rows": "x"}).recording() as checkpoint:
        assert checkpoint.resumed
        assert bits(counted.fold(statistic).finish()) == here
    assert n < 9 or sum(start > 0 for start in read) < N // 128 - 1  # states of the first rows were there
    assert not os.path.exists("kept")


def test_a_fold_of_other_rows_maps_or_settings_is_not_continued(rows, monkeypatch):
    source = ParquetSource(rows, target="y")
    assert stopped(monkeypatch, 9, lambda: folded(source, Gram(3)))
    for other, statistic in (
        (source, Gram(2)),
        (source.map(lambda b: b.with_X(b.X + 1)), Gram(3)),
        (source, Moments()),
    ):
        here = bits(other.fold(statistic).finish())
        found = Checkpoint("kept", {})
        assert found.fold(other, statistic).restored() == (0, [])
        found._release()
        assert bits(other.fold(statistic).finish()) == here
    found = Checkpoint("kept", {})
    assert found.fold(source, Gram(3)).restored()[0] > 0
    found.remove()


@pytest.mark.parametrize("target", ["y", "label"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_interrupted_fit_continues_with_the_same_bits(form, target, table, monkeypatch):
    data, kept = f"rows.{form}", table.drop(["label" if target == "y" else "y"])
    csv.write_csv(kept, data) if form == "csv" else pq.write_table(kept, data, row_group_size=700)
    here = fitted(data, target)
    assert any("do not fit into" in note for note in here[2])
    stops = range(2, 40, 3) if LONG else (4, 13)
    for n in stops:
        if stopped(monkeypatch, n, lambda: fitted(data, target, checkpoint="kept")):
            assert os.stat("kept").st_mode & 0o777 == 0o700
        assert fitted(data, target, checkpoint="kept") == here
        assert not os.path.exists("kept")


def test_the_search_and_its_sample_are_not_repeated(rows, monkeypatch):
    from mercer.auto import run

    here = fitted(rows, "y")
    with monkeypatch.context() as patched:
        patched.setattr(run.FitRun, "_weights_from_all", lambda *given: (_ for _ in ()).throw(Stopped()))
        with pytest.raises(Stopped):
            fitted(rows, "y", checkpoint="kept")
    monkeypatch.setattr(run.FitRun, "_learn", None)
    monkeypatch.setattr(run.FitRun, "learned_again", None)
    monkeypatch.setattr(run, "gathered", None)
    assert fitted(rows, "y", checkpoint="kept") == here


def test_other_data_options_or_versions_are_refused(rows, monkeypatch):
    assert stopped(monkeypatch, 3, lambda: fitted(rows, "y", checkpoint="kept"))
    with pytest.raises(CheckpointError, match=r"kept belongs to another fit: options .*'random_state': 1"):
        fitted(rows, "y", checkpoint="kept", random_state=1)
    os.utime(rows, ns=(1, 1))
    with pytest.raises(CheckpointError, match=r"belongs to another fit: data was .*remove the folder"):
        fitted(rows, "y", checkpoint="kept")
    assert os.path.isdir("kept")


def test_folders_that_are_refused(rows):
    os.mkdir("plain")
    with pytest.raises(CheckpointError, match="plain is not a checkpoint"):
        fitted(rows, "y", checkpoint="plain")
    with pytest.raises(Stopped):
        kept_with(Stopped())
    os.symlink("kept", "link")
    with pytest.raises(CheckpointError, match="link is not a checkpoint"):
        Checkpoint("link", {})
    os.chmod("kept", 0o755)
    with pytest.raises(CheckpointError, match="open to others"):
        Checkpoint("kept", {})
    os.chmod("kept", 0o700)
    with open("kept/checkpoint.json", "w") as file:
        file.write("{")
    with pytest.raises(CheckpointError, match="damaged"):
        Checkpoint("kept", {})
    Checkpoint("kept", {}, resume=False)
    assert not os.path.exists("kept")


@pytest.mark.parametrize(("length", "shown"), [(78, "'{}'"), (79, "'{}...")])
def test_long_values_are_cut_in_messages(length, shown):
    with pytest.raises(Stopped):
        kept_with(Stopped())
    with pytest.raises(CheckpointError) as found:
        Checkpoint("kept", {"options": "x" * length})
    assert f"options was None, and is {shown.format('x' * (78 if length == 78 else 76))}. " in str(found.value)


def test_a_checkpoint_in_use(rows):
    with Checkpoint("kept", {}).recording() as checkpoint:
        checkpoint.save("x.value", 1)
        code = "from mercer.io.checkpoint import Checkpoint; Checkpoint('kept', {})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "in use by another process" in done.stderr


@pytest.mark.parametrize(
    ("error", "kept"),
    [(KeyboardInterrupt(), True), (EngineError("gone"), True), (OSError(28, "full"), True), (ValueError("bad"), False)],
    ids=lambda each: type(each).__name__,
)
def test_progress_is_kept_where_another_attempt_may_succeed(error, kept):
    with pytest.raises(type(error)):
        kept_with(error)
    assert os.path.isdir("kept") == kept


def test_values_inside_values_keep_their_numbers():
    calls = []

    def inner(name):
        return remembered("value", lambda: [calls.append(name), name][1])

    def outer():
        return remembered("outer", lambda: inner("inside"))

    def interrupted():
        with Checkpoint("kept", {}).recording():
            assert outer() == "inside"
            raise Stopped

    with pytest.raises(Stopped):
        interrupted()
    with Checkpoint("kept", {}).recording():
        assert (outer(), inner("outside")) == ("inside", "outside")
    assert calls == ["inside", "outside"]


def test_damaged_states_are_computed_again(rows, monkeypatch):
    source = ParquetSource(rows, target="y")
    here = bits(source.fold(Gram(3)).finish())
    assert stopped(monkeypatch, 12, lambda: folded(source, Gram(3)))
    for name in os.listdir("kept"):
        if name.endswith(".state"):
            with open(os.path.join("kept", name), "r+b") as file:
                file.truncate(os.path.getsize(file.name) // 2)
    with Checkpoint("kept", {}).recording():
        assert bits(source.fold(Gram(3)).finish()) == here


def test_a_full_disk_ends_the_recording_not_the_fit(rows, monkeypatch):
    here = bits(ParquetSource(rows, target="y").fold(Gram(3)).finish())

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with Checkpoint("kept", {}).recording():
        assert bits(ParquetSource(rows, target="y").fold(Gram(3)).finish()) == here
    assert not os.path.exists("kept")


class Called:
    """Would call a function when loaded by pickle."""

    def __init__(self, function, *args):
        self.reduced = function, args

    def __reduce__(self):
        return self.reduced


@pytest.mark.parametrize(
    "hostile",
    [
        pickle.dumps(Called(os.system, "true")),
        pickle.dumps(Called(exec, "1")),
        pickle.dumps(Called(folder.Checkpoint, "x", {})),
        pickle.dumps(Called(mercer.io.atomic_file.write_text, "x", "y")),
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"",
        b"\x80\x05garbage",
    ],
)
def test_a_state_calls_nothing(hostile):
    with pytest.raises(pickle.UnpicklingError):
        load_state(io.BytesIO(hostile))


def test_states_keep_their_layout():
    for array in (np.ones((4, 3), order="F"), np.arange(24.0).reshape(4, 6)[:, ::2], np.array(["a", None], object)):
        found = load_state(io.BytesIO(dumps(array)))
        assert bits(found) == bits(array)
        assert found.flags.f_contiguous == array.flags.f_contiguous


def test_what_cannot_be_continued(rows, table):
    with pytest.raises(ParameterError, match="checkpoint needs data in files"):
        mercer.fit(table, "y", checkpoint="kept")
    with pytest.raises(MercerError, match="depends on the clock"):
        mercer.fit(rows, "y", checkpoint="kept", time_budget=5.0)


LONG_FIT = """
    import importlib, sys, time
    from mercer import cli
    for name in TAKERS:
        importlib.import_module(name)
    from mercer.io.checkpoint import folder, folds
    from mercer.source import accumulator, base, files
    for module in (accumulator, base, files, folds):
        module.BLOCK_ROWS, module.PART_ROWS = 128, 256
    folder.Checkpoint.__init__.__defaults__ = (True, 0.0)
    write, slow = folder.Checkpoint.write, "--resume" not in sys.argv
    def waiting(self, name, data):
        write(self, name, data)
        print(name, flush=True)
        time.sleep(0.05 if slow else 0)
    folder.Checkpoint.write = waiting
    sys.exit(cli._run(sys.argv[1:]))
"""


def started(*arguments, **environment):
    import textwrap

    command = [sys.executable, "-c", f"TAKERS = {TAKERS!r}\n{textwrap.dedent(LONG_FIT)}", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env={**os.environ, **environment}, **streams)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_the_command_line_continues_a_fit(how, table, tmp_path):
    """The converted text file and all states of a killed process are used, and nothing is left in the end."""
    (tmp_path / "temporary").mkdir()
    csv.write_csv(table.drop(["label"]), "rows.csv")
    fit = ["fit", "rows.csv", "--target", "y", "--effort", "fast", "--memory", "2MB", "--no-report", "-o", "m.mercer"]
    place = {"TMPDIR": str(tmp_path / "temporary")}
    process = started(*fit, **place)
    for line in process.stdout:
        if line.startswith("fold"):
            break
    process.send_signal(how)
    err = process.communicate(timeout=300)[1]
    assert ("m.mercer.checkpoint" in err and "--resume continues it" in err) == (how == signal.SIGINT)
    assert os.path.isdir("m.mercer.checkpoint")
    assert not os.path.exists("m.mercer")
    from mercer.io.checks.litter import remove_abandoned_folders

    remove_abandoned_folders(str(tmp_path / "temporary"))  # as another process does
    assert len(list((tmp_path / "temporary").iterdir())) == 1  # the converted file
    process = started(*fit, "--resume", **place)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "The fit continues from" in err
    assert "converted.value" not in out.split()
    assert not list((tmp_path / "temporary").iterdir())
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["m.mercer", "rows.csv"]
    whole = mercer.fit("rows.csv", "y", effort="fast", memory=0.002, report=False)
    assert bits(mercer.load("m.mercer").predict("rows.csv")) == bits(whole.predict("rows.csv"))


def test_time_passes_between_two_writes():
    checkpoint = Checkpoint("kept", {}, seconds=3600.0)
    with checkpoint.recording():
        assert not checkpoint.is_due()
        checkpoint._last = time.monotonic() - 3601
        assert checkpoint.is_due()
        checkpoint._write_seconds = 1000.0
        assert checkpoint.is_due() == (folder._WRITE_SHARE == 0)
    assert not os.path.exists("kept")
    assert json.loads(json.dumps(checkpoint.belongs_to)) == {}
