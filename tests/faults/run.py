"""Do the tests notice a fault? `python -m tests.faults.run [--only WORDS] [--jobs 2]`.

For each fault of the table: copy src/ to a temporary folder, make the fault there, and run tests
against the copy until one fails, the nearest and cheapest first. The sources themselves are never
changed. Without a fault all tests must pass. Prints what noticed each fault; one that nothing
noticed ends the run with an error.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tests.faults.table import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "pegasos"
CHOSEN = "not slow and not data"


def place_of(fault: Fault) -> Path:
    """Return the file, relative to src/pegasos, in which the text to replace is, once."""
    named = SOURCES / fault.file
    files = (
        [named] if named.exists() and fault.before in named.read_text() else SOURCES.rglob("*.py")
    )
    found = [path for path in files for _ in range(path.read_text().count(fault.before))]
    if len(found) != 1:
        raise LookupError(f"{fault.file}: {fault.before!r} is there {len(found)} times, not once.")
    return found[0].relative_to(SOURCES)


def stages(place: Path) -> list[tuple[str, list[str], dict[str, str]]]:
    """Return (name, tests, environment): mirrored tests, then all that run quickly uncompiled."""
    own: Any = "tests" / place.with_name(f"test_{place.name}")
    for folder in [Path("tests") / parent for parent in place.parents if parent.name]:
        if (ROOT / folder).is_dir():
            own = folder
            break
    own = [str(own)] if (ROOT / own).exists() else ["tests/estimators"]
    plain, rest = {"NUMBA_DISABLE_JIT": "1"}, ["tests", "--ignore=tests/bench"]
    return [
        ("uncompiled, mirrored tests", ["-m", f"fast and {CHOSEN}", *own], plain),
        ("uncompiled, all", ["-m", f"fast and {CHOSEN}", *rest], plain),
        ("compiled, mirrored tests", ["-m", CHOSEN, *own], {}),
        ("compiled, all", ["-m", CHOSEN, "src", *rest], {}),
    ]


def noticed(fault: Fault, last: int, limit: float) -> tuple[str, str]:
    """Make the fault in a copy; return the stage that noticed it ("" if none) and the test."""
    place = place_of(fault)
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        copy = Path(folder, "src")
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / "pegasos" / place
        file.write_text(file.read_text().replace(fault.before, fault.after))
        for name, arguments, extra in stages(place)[:last]:
            environment = {
                **os.environ, "PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": f"{folder}/numba",
                "PYTHONDONTWRITEBYTECODE": "1", **extra,
            }  # fmt: skip
            command = [
                sys.executable, "-m", "pytest", "-x", "-q", "--no-header",
                "-o", f"cache_dir={folder}/pytest", *arguments,
            ]  # fmt: skip
            if "src" in arguments:  # examples in docstrings, of the copy
                command[command.index("src")] = str(copy)
            try:
                done = subprocess.run(
                    command, cwd=ROOT, env=environment, capture_output=True, text=True,
                    check=False, timeout=limit,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return name, f"nothing ended within {limit:.0f} s"
            lines = done.stdout.splitlines()
            failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
            if done.returncode in (1, 2) and failed:  # 2: stopped at the first
                return name, failed[0].split(" - ")[0].split(maxsplit=1)[-1]
            if done.returncode not in (0, 5):  # 5: no test is of this kind
                raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return "", ""


def check_copies_are_imported() -> None:
    """Refuse an environment in which the package is not taken from PYTHONPATH first."""
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        copy = Path(folder, "pegasos")
        copy.mkdir()
        (copy / "__init__.py").touch()
        ask = [sys.executable, "-c", "import pegasos; print(pegasos.__file__)"]
        environment = {**os.environ, "PYTHONPATH": folder}
        said = subprocess.run(ask, env=environment, capture_output=True, text=True, check=True)
        if not said.stdout.startswith(folder):
            raise RuntimeError(f"A copy of src/ is not what would be tested: {said.stdout}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="faults whose kind or file contains this")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first")
    parser.add_argument("--jobs", type=int, default=2, help="faults at a time")
    parser.add_argument("--limit", type=float, default=3000.0, help="seconds per stage: it hangs")
    parser.add_argument("--stages", type=int, default=4, help="how many stages to try, of 4")
    options = parser.parse_args()
    check_copies_are_imported()
    chosen = [fault for fault in FAULTS if options.only in f"{fault.kind} {fault.file}"]
    chosen = chosen[options.first :]
    missed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = {
            pool.submit(noticed, fault, options.stages, options.limit): fault for fault in chosen
        }
        for future in as_completed(waiting):
            fault, (stage, test) = waiting[future], future.result()
            missed += not stage
            print(f"{fault.kind:34} {fault.file:34} {stage or 'MISSED':26} {test}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults were noticed.")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
