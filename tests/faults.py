"""Commands that are stopped at random moments: a process forks, runs a command in the child, and stops it.

`python -m faults FOLDER KIND SIGNAL N SEED` prints one line of JSON: how many children were stopped before they were
done, and what was wrong afterwards. KIND is a key of `COMMANDS`.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from estimates import LONG

#: Arguments of a command, and the files that it writes.
COMMANDS = {
    "spool": (["inspect", "rows.csv", "--quiet", "--html", "out.html"], ["out.html"]),
    "fit": (
        ["fit", "rows.csv", "--target", "y", "--effort", "fast", "--quiet", "-o", "new.mercer", "--report", "r.html"],
        ["new.mercer", "r.html"],
    ),
    "predict": (["predict", "model.mercer", "rows.csv", "--keep", "all", "-o", "out.csv", "--quiet"], ["out.csv"]),
    "transform": (["transform", "model.mercer", "rows.csv", "-o", "out.parquet", "--quiet"], ["out.parquet"]),
    "save": (["save"], ["new.mercer"]),
}
N_ROWS = 6000 if LONG else 1500


def prepare(folder: Path) -> None:
    """A table, and a model fitted on some of its rows."""
    import pyarrow as pa

    import mercer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=N_ROWS)
    words = rng.choice(["red", "green", "blue, light"], size=N_ROWS)
    columns = (*X.T.tolist(), [f'"{word}"' for word in words], y.tolist())
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (folder / "rows.csv").write_text("a,b,c,d,w,y\n" + "\n".join(lines) + "\n")
    frame = {**dict(zip("abcd", X[:300].T, strict=True)), "y": y[:300]}
    mercer.fit(pa.table(frame), "y", effort="fast", report=False).save(folder / "model.mercer")
    (folder / "temporary").mkdir()


def run(kind: str) -> None:
    """Run the command of a kind in this process."""
    from mercer import cli

    if kind == "save":
        from mercer.io import load, save

        model = load("model.mercer")
        for _ in range(20):
            save(model, "new.mercer")
        return
    code = cli._run(COMMANDS[kind][0])
    if code:
        raise SystemExit(code)


def child(kind: str) -> int:
    """Fork a process that runs the command, with its output thrown away; the number of the process."""
    process = os.fork()
    if process:
        return process
    from mercer import cli

    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(os.open("stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        signal.signal(signal.SIGTERM, cli._terminate)
        run(kind)
        code = 0
    except SystemExit as error:
        code = int(error.code or 0)
    except (KeyboardInterrupt, cli._Terminated):  # not by the command line, but by `save` alone
        code = 1
    except BaseException:
        code = 99
    finally:
        atexit._run_exitfuncs()  # as at the end of the command itself
        os._exit(code)


def is_whole(path: Path) -> bool:
    """Whether a file is complete, by its own end marks or by reading all of it."""
    if path.suffix == ".mercer":
        from mercer.io import load

        return load(path) is not None
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path).num_rows == N_ROWS
    text = path.read_text(encoding="utf-8")
    return text.rstrip().endswith("</html>") if path.suffix == ".html" else text.count("\n") == N_ROWS + 1


def stop_at_random(kind: str, number: int, n: int, seed: int) -> dict:
    """Stop `n` processes at random moments, and check what they leave."""
    rng, wrong, stopped = np.random.default_rng(seed), [], 0
    start = time.perf_counter()
    _, status = os.waitpid(child(kind), 0)
    seconds = time.perf_counter() - start
    if status:
        return {"stopped": 0, "wrong": [f"{kind} ended with {status}: {Path('stderr.txt').read_text()[-500:]}"]}
    for _ in range(n):
        process = child(kind)
        time.sleep(rng.uniform(0, seconds))
        os.kill(process, number)
        _, status = os.waitpid(process, 0)
        stopped += status != 0
        wrong += [f"{name} is not whole" for name in COMMANDS[kind][1] if not is_whole(Path(name))]
        if number != signal.SIGKILL:
            wrong += [f"left after {signal.Signals(number).name}: {name}" for name in litter()]
            if status and os.waitstatus_to_exitcode(status) not in (1, 143):
                wrong.append(f"ended with {os.waitstatus_to_exitcode(status)}: {Path('stderr.txt').read_text()[-500:]}")
    return {"stopped": stopped, "wrong": wrong}


def litter() -> list[str]:
    """Files that should not be there."""
    known = {"rows.csv", "model.mercer", "stderr.txt", "temporary"}
    known |= {name for _, outputs in COMMANDS.values() for name in outputs}
    found = [name for name in os.listdir(".") if name not in known]
    return found + [f"temporary/{name}" for name in os.listdir("temporary") if name.startswith(("mercer-", ".mercer-"))]


def main() -> None:
    """Stop the processes, then run the command once more: it removes what was left."""
    folder, kind, number, n, seed = sys.argv[1:]
    os.chdir(folder)
    import mercer.auto
    import mercer.io
    import mercer.report.html  # noqa: F401
    from mercer import cli  # noqa: F401

    found = stop_at_random(kind, int(number), int(n), int(seed))
    _, status = os.waitpid(child(kind), 0)
    found["wrong"] += [f"left at the end: {name}" for name in litter()] + [f"last run: {status}"] * bool(status)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
