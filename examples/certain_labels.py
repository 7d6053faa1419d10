"""How many labels are certain, and when `stop="decisions"` pays: measured on text.

    python examples/certain_labels.py 20news-bydate.tar.xz

takes the archive of the 20 newsgroups "by date" (http://qwone.com/~jason/20Newsgroups), as tf-idf
of words. Tables: the share of test labels that are certain after a fit; the epochs that a fit takes
until `tol`, and until 99.9 % of the training labels are settled.
"""

from __future__ import annotations

import sys
import tarfile
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from pegasos import PegasosClassifier

TASKS = {
    "graphics or medicine": ("comp.graphics", "sci.med"),
    "atheism or religion": ("alt.atheism", "talk.religion.misc"),
    "all 20 groups": (),
}


def read(archive: str) -> tuple[Any, Any, Any, Any]:
    """Return rows and labels for training, then for testing."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    labels: dict[bool, list[str]] = {True: [], False: []}
    with tarfile.open(archive) as members:
        for member in members:
            *_, part, group, _ = ["", "", *member.name.split("/")]
            content = members.extractfile(member) if member.isfile() else None
            if content is not None:
                is_training = part.endswith("train")
                texts[is_training].append(content.read().decode("latin-1"))
                labels[is_training].append(group)
    words = TfidfVectorizer()
    X = words.fit_transform(texts[True])
    return X, np.array(labels[True]), words.transform(texts[False]), np.array(labels[False])


def main(archive: str) -> None:
    """Print both tables."""
    X, y, X_test, y_test = read(archive)
    for bias in ("free", "none"):
        print(f'\nbias="{bias}"')
        print(f"{'':22}{'certain at tol':>27}{'epochs to tol':>27}{'to decisions':>14}")
        print(f"{'':22}" + 2 * "".join(f"{tol:>9.0e}" for tol in (1e-2, 1e-3, 1e-4)))
        for name, groups in TASKS.items():
            train, test = (np.isin(of, groups or np.unique(y)) for of in (y, y_test))
            fits = [
                PegasosClassifier(bias=bias, tol=tol, random_state=0).fit(X[train], y[train])
                for tol in (1e-2, 1e-3, 1e-4)
            ]
            settled = PegasosClassifier(bias=bias, tol=1e-9, stop="decisions", random_state=0)
            settled.fit(X[train], y[train])
            shares = "".join(f"{model.certain(X_test[test]).mean():>9.1%}" for model in fits)
            epochs = "".join(f"{model.n_iter_:>9}" for model in fits)
            reached = f"{settled.n_iter_:>6} (tol {settled.certificate_.relative_gap:.0e})"
            print(f"{name:22}{shares}{epochs}  {reached}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
