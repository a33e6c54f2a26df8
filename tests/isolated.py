"""Run Python on another copy of the package than the installed one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

#: The import hook of an editable install comes before PYTHONPATH, so the copy would not be imported at all.
_WITHOUT_HOOK = """import sys
sys.meta_path[:] = [each for each in sys.meta_path if not type(each).__module__.startswith("_editable")]
"""


def variables_of_copy(source: Path, *folders: Path) -> dict[str, str]:
    """Environment in which `import mercer` finds the package in `source`; other folders of modules follow."""
    (source / "sitecustomize.py").write_text(_WITHOUT_HOOK, encoding="utf-8")
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [source, *folders])), "PYTHONDONTWRITEBYTECODE": "1"}


def check_copy(source: Path, variables: dict[str, str]) -> None:
    """Stop unless Python and compiled code both come from the copy."""
    code = "from mercer import _numeric; print(_numeric.__file__); print(_numeric._native_module.__file__)"
    files = subprocess.check_output([sys.executable, "-c", code], env=variables, text=True).splitlines()
    if not all(Path(each).resolve().is_relative_to(source.resolve()) for each in files):
        raise SystemExit(f"the tests would run on {files}, not on the copy in {source}")
