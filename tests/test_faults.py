"""Processes that are killed, interrupted or out of space: an old or a complete new file, and nothing left over."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import faults
from estimates import LONG
from mercer.io import load

N_STOPS = {"spool": 40, "fit": 30, "predict": 50, "transform": 30, "save": 50} if LONG else {"predict": 3, "save": 3}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    faults.prepare(folder)
    return folder


@pytest.fixture
def folder(prepared, tmp_path):
    shutil.copytree(prepared, tmp_path / "work")
    return tmp_path / "work"


def environment(folder, **more):
    return os.environ | {"TMPDIR": str(folder / "temporary"), "PYTHONPATH": str(Path(__file__).parent)} | more


def mercer(folder, *arguments, prefix=(), variables=None, **options):
    code = "import sys; from mercer.cli import main; main(sys.argv[1:])"
    command = [*prefix, sys.executable, "-c", code, *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "check": False} | options
    return subprocess.run(command, cwd=folder, env=variables or environment(folder), **options)


STOPS = [(kind, number) for kind in N_STOPS for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize(("kind", "number"), STOPS if LONG else [("predict", signal.SIGKILL), ("save", signal.SIGINT)])
def test_stopped_commands_leave_whole_files(folder, kind, number, record_property):
    n = N_STOPS[kind] if number == signal.SIGKILL else max(1, N_STOPS[kind] // 5)
    record_property("cases", n)
    command = [sys.executable, "-m", "faults", str(folder), kind, str(int(number)), str(n), "0"]
    done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["wrong"] == []


def limited(limit):
    def apply():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return apply


@pytest.mark.parametrize("limit", [0, 10_000, 100_000] if LONG else [0, 10_000])
@pytest.mark.parametrize("kind", ["fit", "predict", "transform"] if LONG else ["predict"])
def test_files_that_grow_too_large_are_refused_by_name(folder, kind, limit):
    arguments, outputs = faults.COMMANDS[kind]
    (folder / outputs[0]).write_bytes(b"old")
    done = mercer(folder, *arguments, preexec_fn=limited(limit))
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert outputs[0] in done.stderr or "temporary files" in done.stderr, done.stderr
    assert (folder / outputs[0]).read_bytes() == b"old"
    assert os.listdir(folder / "temporary") == []


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root can mount a small disk")
@pytest.mark.parametrize("full", ["output", "temporary"])
def test_a_full_disk_is_named(folder, full):
    disk = folder / ("temporary" if full == "temporary" else "disk")
    disk.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        out = disk / "out.csv" if full == "output" else folder / "out.csv"
        done = mercer(folder, "predict", "model.mercer", "rows.csv", "--keep", "all", "-o", out, "--quiet")
        assert done.returncode == 1
        assert ("out.csv could not be written" if full == "output" else "temporary files") in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)


OBEYING = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.mark.skipif(bool(OBEYING) and shutil.which("setpriv") is None, reason="root writes to any folder")
@pytest.mark.parametrize("kind", ["fit", "predict"] if LONG else ["predict"])
def test_read_only_folders_are_named(folder, kind):
    arguments, outputs = faults.COMMANDS[kind]
    (folder / "sealed").mkdir(mode=0o555)
    moved = [f"sealed/{each}" if each in outputs else each for each in arguments]
    done = mercer(folder, *moved, prefix=OBEYING)
    assert done.returncode == 1
    assert "sealed cannot be written to" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_no_home_is_needed(folder):
    homes = ("HOME", "XDG", "USER")
    variables = {name: value for name, value in environment(folder).items() if not name.startswith(homes)}
    done = mercer(folder, *faults.COMMANDS["predict"][0], variables=variables)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_is_cut_off_is_a_failure(folder, unbuffered):
    variables = environment(folder, PYTHONUNBUFFERED=unbuffered)
    given = ("predict", "model.mercer", "rows.csv", "--keep", "all", "--quiet")
    with open(folder / "whole", "wb") as out:
        assert mercer(folder, *given, stdout=out, text=False, variables=variables).returncode == 0
    size = os.path.getsize(folder / "whole")
    for limit in (size // 2, size - 1):
        with open(folder / "cut", "wb") as out:
            options = {"stdout": out, "variables": variables, "preexec_fn": limited(limit)}
            done = mercer(folder, *given, **options)
        assert done.returncode == 1, done.stderr
        assert "The output could not be written: File too large" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_crash(folder, unbuffered):
    code = "import sys; from mercer.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "predict", "model.mercer", "rows.csv", "--keep", "all", "--quiet"]
    options = {"cwd": folder, "env": environment(folder, PYTHONUNBUFFERED=unbuffered), "text": True}
    with subprocess.Popen(command, stdout=-1, stderr=-1, **options) as process:
        assert process.stdout.readline() == "a,b,c,d,w,y,prediction\n"
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (1, "")
    assert os.listdir(folder / "temporary") == []


def test_two_processes_write_one_file(folder, record_property):
    n = 10 if LONG else 1
    record_property("cases", n)
    arguments = ["predict", "model.mercer", "rows.csv", "-o", "out.csv", "--quiet"]
    codes = []

    def writer():
        codes.extend(mercer(folder, *arguments).returncode for _ in range(n))

    threads = [threading.Thread(target=writer) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        threads[0].join(0.05)
        threads[1].join(0.05)
        if (folder / "out.csv").exists():
            assert faults.is_whole(folder / "out.csv")
    assert codes == [0] * 2 * n
    assert load(folder / "model.mercer") is not None
    assert sorted(os.listdir(folder)) == ["model.mercer", "out.csv", "rows.csv", "temporary"]
    assert os.listdir(folder / "temporary") == []
