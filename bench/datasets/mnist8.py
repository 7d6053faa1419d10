"""MNIST, digit 8 against the rest: pixels / 255, dense float32, lam 1.67e-5 = 1/n."""

import numpy as np

from bench.harness.files import cached, open_data
from bench.task import Task

NAME = "mnist8"
LAMS = (1.67e-5,)
IMAGE_HEADER, LABEL_HEADER = 16, 8  # bytes before the pixels of an idx file


def parse(part="train"):
    with open_data("mnist", f"{part}-images-idx3-ubyte.xz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=IMAGE_HEADER).reshape(-1, 784)
    with open_data("mnist", f"{part}-labels-idx1-ubyte.xz") as file:
        digit = np.frombuffer(file.read(), np.uint8, offset=LABEL_HEADER)
    return pixels.astype(np.float32) / np.float32(255), np.where(digit == 8, 1, -1)


def load(lam: float) -> Task:
    X, y = cached(NAME, parse)
    return Task(NAME, X, y, lam, "MNIST digit 8 vs rest")
