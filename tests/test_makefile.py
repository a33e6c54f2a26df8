"""The editable install follows when Python files are added, moved or deleted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"


@pytest.fixture
def project(tmp_path):
    """A project with the Makefile, one module and an interpreter that only logs how it was called."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    shutil.copy(MAKEFILE, tmp_path)
    for name in ("pyproject.toml", "constraints.txt", "CMakeLists.txt", "src/mercer/a.py", ".venv/bin/python"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".venv/bin/python").write_text('#!/bin/sh\necho "$@" >> calls\n')
    (tmp_path / ".venv/bin/python").chmod(0o755)
    return tmp_path


def installs(project):
    """The number of editable installs that `make` runs."""
    (project / "calls").write_text("")
    subprocess.run(["make", ".venv/.dev"], cwd=project, check=True, capture_output=True)
    return (project / "calls").read_text().count(" -e ")


def test_editable_install_follows_the_set_of_python_files(project):
    assert installs(project) == 2  # the package, and the tools
    assert installs(project) == 0
    (project / "src/mercer/a.py").write_text("x = 1\n")
    assert installs(project) == 0  # edits are live
    (project / "src/mercer/b.py").touch()
    assert installs(project) == 1
    (project / "src/mercer/b").mkdir()
    (project / "src/mercer/b.py").rename(project / "src/mercer/b/__init__.py")
    assert installs(project) == 1
    shutil.rmtree(project / "src/mercer/b")
    assert installs(project) == 1
    assert installs(project) == 0
