"""A file appears when it is complete; what is no file is written to, and what cannot be written to is refused."""

import errno
import os
import threading

import pytest

from mercer.io.atomic_file import atomic_write, check_writable, write_text


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    for text in ("first", "second"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there" / "file").read_text() == text
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["file"]


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_text(tmp_path / "pipe", "größe\n")
    reader.join()
    assert read == ["größe\n"]
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_device_is_written_to():
    check_writable("/dev/null")
    write_text("/dev/null", "x")
    assert not os.path.isfile("/dev/null")


def test_paths_that_cannot_be_written_to(tmp_path, monkeypatch):
    check_writable(tmp_path / "new")
    for call in (check_writable, lambda path: write_text(path, "x")):
        with pytest.raises(FileNotFoundError, match=r"nowhere does not exist"):
            call(tmp_path / "nowhere" / "file")
        with pytest.raises(IsADirectoryError, match=r"is a folder: name a file"):
            call(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda path, mode: False)
        with pytest.raises(PermissionError, match=r"cannot be written to\. Choose another folder"):
            check_writable(tmp_path / "new")

    def refused(**_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(OSError, match=r"new: the folder .* cannot be written to \(Read-only file system\)"):
        write_text(tmp_path / "new", "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_errors_of_the_disk_name_the_file(tmp_path, number):
    (tmp_path / "file").write_text("old")
    with pytest.raises(OSError, match=r"file could not be written: .*\. No partial file was left"):
        failed(tmp_path / "file", OSError(number, os.strerror(number)))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "old"}


def test_other_errors_pass(tmp_path):
    for error in (OSError(errno.ECONNRESET, "reset"), ValueError("x"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as found:
            failed(tmp_path / "file", error)
        assert found.value is error
    assert list(tmp_path.iterdir()) == []


def failed(path, error):
    with atomic_write(path) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_files_have_the_mode_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "ours", "x")
        (tmp_path / "other").write_text("x")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "other").stat().st_mode
