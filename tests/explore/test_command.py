"""The command `mercer explore`: its address, its end, its mistakes; the static page."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from mercer.cli import _run
from mercer.explore.export import MODULES, drawing_script
from mercer.explore.server import static_files


def started(*arguments):
    command = [sys.executable, "-m", "mercer", "explore", "--no-browser", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_server_prints_its_address_and_ends_with_an_interrupt():
    with started("--view", "http://127.0.0.1:1/old/#preset=xor-subsets") as server:
        line = server.stdout.readline()
        found = re.fullmatch(r"Open (http://127\.0\.0\.1:\d+/[\w-]{32}/)#preset=xor-subsets\n", line)
        assert found, line
        with urllib.request.urlopen(found[1], timeout=20) as page:
            assert b"Mercer" in page.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(found[1].rsplit("/", 2)[0] + "/", timeout=20)
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
        assert "Traceback" not in server.stderr.read()


def test_port_that_is_taken_is_refused(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert _run(["explore", "--no-browser", "--port", str(port)]) == 1
    assert "choose another with --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a,b\nx,y\nz,w\n", "fewer than two columns of numbers"), ("a,b\n1,2\n3\n", "line 3")],
)
def test_file_that_has_no_points_is_refused(tmp_path, capsys, text, reason):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    assert _run(["explore", str(path), "--no-browser"]) == 1
    assert reason in capsys.readouterr().err.lower()


def test_missing_file_is_refused(capsys):
    assert _run(["explore", "nowhere.csv", "--no-browser"]) == 1
    assert "nowhere.csv" in capsys.readouterr().err


def test_missing_extra_is_named_with_the_remedy(monkeypatch, capsys):
    from importlib import util

    known = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *more: None if name == "uvicorn" else known(name, *more))
    assert _run(["explore", "--no-browser"]) == 1
    error = capsys.readouterr().err
    assert "needs uvicorn" in error
    assert "pip install 'mercer[explore]'" in error


def test_export_takes_no_data(capsys):
    assert _run(["explore", "rows.csv", "--export", "page.html"]) == 2
    assert "need no DATA" in capsys.readouterr().err


def test_export_refuses_a_folder_that_does_not_exist(tmp_path, capsys):
    assert _run(["explore", "--export", str(tmp_path / "no" / "page.html")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_export_writes_one_page_without_addresses(tmp_path, capsys):
    path = tmp_path / "page.html"
    assert _run(["explore", "--export", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert "wrote" in capsys.readouterr().out
    addresses = set(re.findall(r"https?://[\w./-]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name space, never opened
    assert "default-src 'none'" in text
    assert "src=" not in re.sub(r"<script type=\"application/json\".*?</script>", "", text, flags=re.DOTALL)


def test_modules_of_the_export_share_no_name():
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", drawing_script(), flags=re.MULTILINE)
    assert len(names) > 40
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
    assert "import " not in drawing_script().replace("important ", "")


def test_page_loads_only_its_own_files():
    files = static_files()
    assert {f"{name}.js" for name in MODULES} <= set(files)
    for name, content in files.items():
        text = content.decode("utf-8")
        for imported in re.findall(r'from "\./([\w.]+)"', text):
            assert imported in files, (name, imported)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert not re.search(r"\beval\(|innerHTML|document\.write", text), name
