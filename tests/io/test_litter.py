"""Killed processes leave folders and files behind; the next one removes them, and only them."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from estimates import LONG
from mercer._runtime.errors import DataError
from mercer.io import load, read_table, save
from mercer.io.atomic_file import atomic_write, write_text
from mercer.io.checks.litter import folder_prefix, remove_abandoned_files, remove_abandoned_folders, temporary_file
from mercer.io.temporary import RowGroupWriter, TemporaryFolder
from mercer.linear import RidgeRegressor

N_KILLS = 200 if LONG else 4

SPOOL = """
    import sys
    from mercer.io import read_table
    source = read_table(sys.argv[1])
    print(source.path, flush=True)
    sys.stdin.read()
"""
WRITE = """
    import sys
    from mercer.io.atomic_file import atomic_write, write_text
    with atomic_write(sys.argv[1]) as file:
        file.write(b"half")
        file.flush()
        print("begun", flush=True)
        sys.stdin.read()
"""


def started(code, argument, folder):
    environment = os.environ | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", textwrap.dedent(code), str(argument)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline()
    return process


def killed(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_folders_of_killed_processes_are_removed(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    (folder / "mercer-of-an-older-version").mkdir()
    (folder / "mercer-file").write_text("x")
    dead, living = (started(SPOOL, tmp_path / "rows.csv", folder) for _ in range(2))
    before = set(folder.iterdir())
    assert len(before) == 4
    remove_abandoned_folders(str(folder))
    assert set(folder.iterdir()) == before
    killed(dead)
    remove_abandoned_folders(str(folder))
    left = set(folder.iterdir())
    assert len(left) == 3
    assert {path.name for path in left} > {"mercer-of-an-older-version", "mercer-file"}
    killed(living)
    subprocess.run(
        [sys.executable, "-c", "from mercer.io.temporary import TemporaryFolder; TemporaryFolder()"],
        env=os.environ | {"TMPDIR": str(folder)},
        check=True,
    )
    assert {path.name for path in folder.iterdir()} == {"mercer-of-an-older-version", "mercer-file"}


def test_half_written_files_of_killed_processes_are_removed(tmp_path):
    (tmp_path / "model").write_bytes(b"old")
    (tmp_path / ".mercer-old.tmp").write_text("of another version")
    dead, living = (started(WRITE, tmp_path / "model", tmp_path) for _ in range(2))
    assert len(list(tmp_path.iterdir())) == 4
    killed(dead)
    remove_abandoned_files(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 3
    living.communicate("go on")
    assert (tmp_path / "model").read_bytes() == b"half"
    last = started(WRITE, tmp_path / "model", tmp_path)
    killed(last)
    with atomic_write(tmp_path / "model") as file:
        file.write(b"new")
    assert (tmp_path / "model").read_bytes() == b"new"
    assert {path.name for path in tmp_path.iterdir()} == {"model", ".mercer-old.tmp"}


SAVE = """
    import sys
    import numpy as np
    from mercer.io import save
    from mercer.linear import RidgeRegressor
    X = np.random.default_rng(0).normal(size=(400, 300))
    models = [RidgeRegressor(alpha=alpha).fit(X, X[:, 0]) for alpha in (1.0, 2.0)]
    print("begun", flush=True)
    while True:
        for model in models:
            save(model, sys.argv[1])
"""


def test_a_killed_writer_leaves_the_old_or_the_new_file(tmp_path, record_property):
    record_property("cases", N_KILLS)
    rng, path = np.random.default_rng(0), tmp_path / "ridge.mercer"
    save(RidgeRegressor(alpha=3.0).fit(np.eye(4), np.arange(4.0)), path)
    for _ in range(N_KILLS):
        process = started(SAVE, path, tmp_path)
        time.sleep(rng.uniform(0, 0.05))
        killed(process)
        assert load(path).alpha in (1.0, 2.0, 3.0)
        remove_abandoned_files(str(tmp_path))
        assert [each.name for each in tmp_path.iterdir()] == ["ridge.mercer"]


def test_a_folder_is_not_removed_while_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = TemporaryFolder()
    remove_abandoned_folders(str(tmp_path))
    assert os.path.isdir(folder.path)
    folder.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="the open files of this process are not listed")
def test_folders_and_files_leave_no_open_handles(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    TemporaryFolder().remove()  # the first one cleans up
    before = os.listdir("/dev/fd")
    for _ in range(3):
        folder = TemporaryFolder()
        write_text(os.path.join(folder.path, "x"), "x")
        remove_abandoned_folders(str(tmp_path))
        folder.remove()
    remove_abandoned_files(str(tmp_path))
    assert os.listdir("/dev/fd") == before


def test_a_full_folder_for_temporary_files_is_named(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Full:
        def __init__(self, *_, **__):
            full()

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("mercer.io.temporary.pq.ParquetWriter", Full)
    with pytest.raises(DataError, match=r"temporary files, .*, is full. Free some space there, or .* TMPDIR"):
        read_table(tmp_path / "rows.csv")
    with pytest.raises(DataError, match="is full"):
        RowGroupWriter(str(tmp_path / "x"), ["a"], ["integer"])
    monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(DataError, match="is full"):
        TemporaryFolder()


def test_folders_that_were_never_locked_are_removed_with_their_process(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    machine = folder_prefix().removesuffix(f"-{os.getpid()}-")
    mine, dead = (tmp_path / f"{machine}-{process}-abc" for process in (os.getpid(), gone.pid))
    for path in (mine, dead):
        path.mkdir()
    remove_abandoned_folders(str(tmp_path))
    assert list(tmp_path.iterdir()) == [mine]


def test_a_locked_file_is_left_whatever_its_name_says(tmp_path, monkeypatch):
    """As where processes of several containers write to one folder: they do not see each other."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    monkeypatch.setattr("os.getpid", lambda: gone.pid)
    handle, path = temporary_file(str(tmp_path))
    remove_abandoned_files(str(tmp_path))
    assert os.path.exists(path)
    os.close(handle)
    remove_abandoned_files(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_files_are_on_the_disk_before_they_replace_others(tmp_path, monkeypatch):
    events = []
    monkeypatch.setattr("os.fsync", lambda handle: events.append(os.fstat(handle).st_size))
    replace = os.replace
    monkeypatch.setattr("os.replace", lambda *paths: (events.append("replaced"), replace(*paths)))
    with atomic_write(tmp_path / "model") as file:
        file.write(b"new")
    assert events == [3, "replaced"]


def test_the_mask_for_new_files_survives_many_threads(tmp_path):
    before = os.umask(0o027)
    try:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda i: write_text(tmp_path / f"{i}.txt", "x"), range(200)))
        assert os.umask(0o027) == 0o027
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}
    finally:
        os.umask(before)
