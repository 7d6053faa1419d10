"""Where and with what a benchmark ran."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import date
from importlib.metadata import version
from pathlib import Path

from bench.competitor import Competitor


def machine(solvers: Iterable[Competitor]) -> dict[str, str]:
    """Return the facts that a reader needs to repeat the numbers."""
    packages = {s.package: s.version() for s in solvers}
    packages |= {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {
        "date": date.today().isoformat(),
        "processor": f"{processor()}, {os.cpu_count()} cores seen",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {number}" for name, number in sorted(packages.items())),
    }


def processor() -> str:
    """Return the processor's name, as the kernel gives it where it does."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
