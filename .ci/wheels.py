"""Build the source distribution and the wheels, and try each wheel in a fresh environment.

    python .ci/wheels.py [--pythons python3.11,python3.12] [--also python3.13,python3.14t] [--wheels DIR]

The sdist is built first, and the wheels from the sdist, so that it is known to build. Each wheel is repaired by
auditwheel (which fails if it needs a library that other machines may lack), then installed without network, without
compiler and without the sources, from a folder of downloaded dependencies. There it fits, saves and loads a model on
the compiled core.
`--also` names interpreters that use the wheel of the stable ABI; `--wheels` tries wheels that are already built.
Interpreters are looked for on the path and among the versions of pyenv.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK, DIST = ROOT / "build" / "wheels", ROOT / "dist"
TRIAL = """
import sys, tempfile, pathlib
import numpy as np
import mercer
from mercer._numeric import isa

assert isa() != "numpy", "the compiled core is missing"
assert pathlib.Path(mercer.__file__).with_name("py.typed").exists(), "py.typed is missing"
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
model = mercer.fit(X, X[:, 0] * X[:, 1], effort="fast")
path = pathlib.Path(tempfile.mkdtemp()) / "model.mercer"
model.save(path)
assert (mercer.load(path).predict(X) == model.predict(X)).all()
names = mercer.FeatureHashing(2**10).fit_transform([{"stra\\u00dfe": "Z\\u00fcrich", "n": 2.0}, {"n": 1}])
assert names.shape == (2, 1024)
print("Python", sys.version.split()[0], "core", isa(), "ok")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pythons", default="python3.11,python3.12", help="interpreters to build with")
    parser.add_argument("--also", default="python3.13,python3.14", help="interpreters to try the wheel of 3.12 with")
    parser.add_argument("--wheels", type=Path, help="folder of built wheels: build nothing, try these")
    asked = parser.parse_args()
    builders = found(asked.pythons)
    wheels = sorted(asked.wheels.glob("*.whl")) if asked.wheels else [build(python) for python in builders]
    for python in [*builders, *found(asked.also)]:
        attempt(python, [audited(wheel) for wheel in wheels])
    print(f"wheels in {DIST}:", *(path.name for path in sorted(DIST.iterdir())), sep="\n  ")
    return 0


def found(names: str) -> list[str]:
    """The interpreters that this machine has; the others are reported."""
    located = {name: interpreter(name) for name in names.split(",") if name}
    missing = [name for name, place in located.items() if place is None]
    if missing:
        print(f"not on this machine, left out: {', '.join(missing)}")
    return [place for place in located.values() if place is not None]


def interpreter(name: str) -> str | None:
    """The first place of that name with an interpreter that starts: a shim of pyenv may lead nowhere."""
    version = name.removeprefix("python")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(name), *sorted(map(str, pyenv.glob(f"{version}.*/bin/{name}")), reverse=True)]
    return next((place for place in places if place and starts(place)), None)


def starts(python: str) -> bool:
    """Whether an interpreter runs and can make virtual environments."""
    return subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0


def label(python: str) -> str:
    """A name for the folders of an interpreter."""
    return python.strip("/").replace("/", "-")


def environment(python: str, kind: str) -> Path:
    """A new virtual environment; returns its interpreter."""
    place = WORK / f"{kind}-{label(python)}"
    shutil.rmtree(place, ignore_errors=True)
    run(python, "-m", "venv", place)
    return place / "bin" / "python"


def build(python: str) -> Path:
    """Build the sdist, once, and a wheel from it; returns the wheel."""
    inside = environment(python, "build")
    pip(inside, "install", "-c", ROOT / "constraints.txt", "build", "scikit-build-core", "nanobind", "cmake", "ninja")
    path = {"PATH": f"{inside.parent}:{os.environ['PATH']}"}
    sdist = next(DIST.glob("*.tar.gz"), None)
    if sdist is None:
        run(inside, "-m", "build", "--sdist", "--no-isolation", "--outdir", DIST, ROOT, env=path)
        sdist = next(DIST.glob("*.tar.gz"))
    raw = WORK / f"raw-{label(python)}"
    shutil.rmtree(raw, ignore_errors=True)
    pip(inside, "wheel", "--no-deps", "--no-build-isolation", "-w", raw, sdist, env=path)
    return next(raw.glob("*.whl"))


def audited(wheel: Path) -> Path:
    """The wheel with the tag of the oldest system that it runs on."""
    DIST.mkdir(exist_ok=True)
    before = {path.name for path in DIST.glob("*.whl")}
    tags = tuple(wheel.name.split("-")[:4])
    ready = [DIST / name for name in before if tuple(name.split("-")[:4]) == tags]
    if ready:
        return ready[0]
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    run(sys.executable, "-m", "auditwheel", "repair", "-w", DIST, wheel, env=path)
    return next(path for path in DIST.glob("*.whl") if tuple(path.name.split("-")[:4]) == tags)


def attempt(python: str, wheels: list[Path]) -> None:
    """Install the wheel that suits the interpreter, without network and compiler, and fit a model with it."""
    house = WORK / f"house-{label(python)}"
    inside = environment(python, "try")
    house.mkdir(parents=True, exist_ok=True)
    links = [argument for wheel in wheels for argument in ("--find-links", wheel.parent)]
    pip(inside, "download", "-c", ROOT / "constraints.txt", "--only-binary", ":all:", "-d", house, *links, "mercer")
    alone = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "CC": "false", "CXX": "false", "PATH": "/nonexistent"}
    pip(inside, "install", "--only-binary", ":all:", "--find-links", house, "mercer", env=alone)
    run(inside, "-I", "-W", "error", "-c", TRIAL, env=alone, cwd=WORK)
    run(inside.parent / "mercer", "--version", env=alone, cwd=WORK)


def pip(inside: Path, *arguments: object, env: dict[str, str] | None = None) -> None:
    run(inside, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments, env=env)


def run(*command: object, env: dict[str, str] | None = None, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, env={**os.environ, **(env or {})})


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
