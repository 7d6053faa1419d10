"""Reuters-21578 ModApte, topic "earn" against the rest: tf-idf, float32, lam 1e-4."""

import os
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from bench.harness.files import cached, open_data
from bench.task import Task

NAME = "reuters"
LAMS = (1e-4,)
TOPIC = "earn"


def topic_number() -> float:
    """Look the topic up in the list that lies beside the data."""
    path = Path(os.environ["PEGASOS_DATA"], "reuters_modapte", "reuters21578.topics.txt")
    for line in path.read_text().splitlines():
        number, topic = line.split()
        if topic == TOPIC:
            return float(number)
    raise ValueError(f"{path} lists no topic {TOPIC!r}.")


def parse():
    with open_data("reuters_modapte", "reuters21578.train.xz") as file:
        X, topics = load_svmlight_file(file, n_features=15_932, multilabel=True)
    earn = topic_number()
    return csr_array(X.astype(np.float32)), np.array([1 if earn in t else -1 for t in topics])


def load(lam: float) -> Task:
    X, y = cached(NAME, parse)
    return Task(NAME, X, y, lam, 'Reuters ModApte, "earn" vs rest')
