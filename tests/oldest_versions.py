"""Print the requirements of `pyproject.toml`, each at the oldest version that it allows.

Without arguments, those of the package; otherwise those named of its extras. `make test-oldest`
installs them into an environment of their own.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def oldest(requirement):
    """Return `name==1.26.*` of `name>=1.26`: the last repairs of the oldest release."""
    found = re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement)
    if found is None:
        raise ValueError(f"no lower bound, or more than one: {requirement}")
    name, version = found.groups()
    return f"{name}=={version if '.' in version else version + '.0'}.*"


def requirements(names=()):
    """Return what the package needs, or what is named of its extras."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    if not names:
        return [oldest(text) for text in project["dependencies"]]
    extras = [text for extra in project["optional-dependencies"].values() for text in extra]
    by_name = {re.split(r"[\[><=; ]", text)[0]: text for text in extras}
    return [oldest(by_name[name]) for name in names]


if __name__ == "__main__":
    print(*requirements(sys.argv[1:]), sep="\n")
