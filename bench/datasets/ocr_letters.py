"""OCR letters: 6,877 handwritten words, one 16 x 8 picture of bits per letter, in ten folds.

A constant feature beside the 128 pixels says how frequent each letter is.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bench.harness.files import open_data

PIXELS = slice(6, 134)


def load() -> tuple[list[csr_array], list[list[str]], NDArray[np.int64]]:
    """Return pictures (length, 129) and letters of every word, and its fold."""
    X, y, folds = [], [], []
    pixels: list[list[str]] = []
    letters: list[str] = []
    for line in io.TextIOWrapper(open_data("ocr_letters", "letter.data.xz"), encoding="ascii"):
        fields = line.split("\t")
        letters.append(fields[1])
        pixels.append([*fields[PIXELS], "1"])
        if fields[2] == "-1":  # no next letter
            X.append(csr_array(np.array(pixels, dtype=np.float32)))
            y.append(letters)
            folds.append(int(fields[5]))
            pixels, letters = [], []
    return X, y, np.array(folds)
