"""Bad data: rows, targets and weights that no estimator accepts.

Each kind has a name, a way to make it (when asked: some cannot be made without a warning), the
exception and its message.
"""

import datetime
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
y = np.array([0, 1, 1, 0])
DAYS = np.array(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-05"], dtype="M8[D]")


def changed(value, dtype=float, at=(2, 1)):
    X_ = X.astype(dtype)
    X_[at] = value
    return X_


def malformed(form="csr", **changes):
    matrix = sparse.csr_array(X).asformat(form)
    for name, values in changes.items():
        setattr(matrix, name, np.array(values, dtype=getattr(matrix, name).dtype))
    return matrix


def masked(values, at):
    values = np.ma.masked_array(values)
    values[at] = np.ma.masked
    return values


TOO_LARGE = r"X is too large: it holds values up to \S+, whose squares sum .* Rescale X"
WORDS = r"X must hold numbers: .*arrays of bytes/strings"
NAN, INF = r"Input X contains NaN", r"Input X contains infinity"
NUMBERS = r"X must hold numbers: .* Turn words, categories, dates and durations into numbers"

ROWS = {
    "nan": (lambda: changed(np.nan), NAN),
    "inf": (lambda: changed(np.inf), INF),
    "-inf": (lambda: changed(-np.inf), INF),
    "nan, float32": (lambda: changed(np.nan, np.float32), NAN),
    "inf, float32": (lambda: changed(np.inf, np.float32), INF),
    "inf, float16": (lambda: changed(np.inf, np.float16), INF),
    "nan, longdouble": (lambda: changed(np.nan, np.longdouble), NAN),
    "beyond float64": (lambda: changed(np.longdouble("1e4000"), np.longdouble), INF),
    "nan, Fortran order": (lambda: np.asfortranarray(changed(np.nan)), NAN),
    "nan in a strided view": (lambda: np.repeat(changed(np.nan), 2, axis=1)[:, ::2], NAN),
    "inf and -inf": (lambda: changed(-np.inf) + changed(np.inf, at=(0, 0)), NAN + "|" + INF),
    "nan, list": (lambda: changed(np.nan).tolist(), NAN),
    "nan, object": (lambda: changed(np.nan, object), NAN),
    "None": (lambda: changed(None, object), NAN),
    "nan, frame": (lambda: pd.DataFrame(changed(np.nan)), NAN),
    "nan, polars": (lambda: pl.DataFrame(changed(np.nan)), NAN),
    "pd.NA, nullable frame": (
        lambda: pd.DataFrame({"a": pd.array([1, None, 2, 3], "Int64"), "b": 1.0}), NAN),
    "pd.NA, object": (lambda: changed(pd.NA, object), NUMBERS),
    "nan, csr": (lambda: sparse.csr_array(changed(np.nan)), NAN),
    "inf, csr": (lambda: sparse.csr_array(changed(np.inf)), INF),
    "nan, csc": (lambda: sparse.csc_matrix(changed(np.nan)), NAN),
    "inf, coo": (lambda: sparse.coo_array(changed(np.inf)), INF),
    "inf, csr of float32": (lambda: sparse.csr_array(changed(np.inf, np.float32)), INF),
    "1e200": (lambda: 1e200 * X, TOO_LARGE),
    "-1e308": (lambda: changed(-1e308), TOO_LARGE),
    "1e200, csr": (lambda: sparse.csr_array(1e200 * X), TOO_LARGE),
    "1e200, list": (lambda: (1e200 * X).tolist(), TOO_LARGE),
    "1e200, one value": (lambda: changed(1e200), TOO_LARGE),
    "complex": (lambda: X + 1j, "Complex data not supported"),
    "complex, csr": (lambda: sparse.csr_array(X + 1j), "Complex data not supported"),
    "complex, list": (lambda: (X + 1j).tolist(), "Complex data not supported"),
    "strings": (lambda: X.astype(str), WORDS),
    "words": (lambda: [["a", "b"]] * 4, WORDS),
    "bytes": (lambda: X.astype("S"), WORDS),
    "words, object": (lambda: changed("a", object), r"X must hold numbers: could not .*'a'"),
    "words, frame": (lambda: pd.DataFrame([["a", 1.0]] * 4), r"X must hold numbers: could not"),
    "dicts": (lambda: changed({"foo": "bar"}, object), NUMBERS),
    "datetimes": (lambda: np.column_stack([DAYS, DAYS]), r"X must hold numbers; got .*datetime64"),
    "durations": (
        lambda: np.column_stack([DAYS - DAYS[0]] * 2), r"X must hold numbers; .*type timedelta64"),
    "datetimes, frame": (lambda: pd.DataFrame({"a": DAYS, "b": DAYS}), r"X must hold numbers; got"),
    "datetimes beside numbers": (lambda: pd.DataFrame({"a": DAYS, "b": 1.0}), NUMBERS),
    "datetime objects": (lambda: changed(datetime.datetime(2020, 1, 1), object), NUMBERS),
    "categories": (lambda: pd.DataFrame({"a": pd.Categorical(list("abab"))}), r"X must hold num"),
    "structured": (
        lambda: np.zeros((4, 1), dtype=[("a", float), ("b", int)]), WORDS),
    "structured, flat": (lambda: np.zeros(4, dtype=[("a", float)]), r"Expected 2D array|strings"),
    "masked": (lambda: masked(X, (0, 0)), r"X has 1 masked values. Fill them, .*X.filled\(0\)"),
    "one dimension": (lambda: X[:, 0], r"Expected 2D array, got 1D array"),
    "no dimension": (lambda: np.array(1.0), r"Expected 2D array, got scalar array"),
    "a number": (lambda: 1.0, r"Expected 2D array, got scalar array"),
    "three dimensions": (lambda: X[:, :, None], r"Found array with dim 3"),
    "no rows": (lambda: X[:0], r"Found array with 0 sample"),
    "no columns": (lambda: X[:, :0], r"0 feature"),
    "no rows, csr": (lambda: sparse.csr_array((0, 2)), r"Found array with 0 sample"),
    "nothing": (lambda: None, r"Expected 2D array, got scalar array"),
    "a word": (lambda: "abc", r"Expected 2D array, got scalar array"),
    "a dict": (lambda: {"a": 1}, r"Expected 2D array, got scalar array"),
    "a function": (lambda: len, r"Expected 2D array, got scalar array"),
    "ragged rows": (lambda: [[1.0], [1.0, 2.0], [1.0], [2.0]], r"X must hold numbers: setting an"),
    "mixed column names": (lambda: pd.DataFrame(X, columns=["a", 1]), r"names are (all st|on)"),
    "an object": (lambda: SimpleNamespace(), r"Expected 2D array, got scalar array"),
    "index too large": (lambda: malformed(indices=[1, 0, 0, 9, 0, 1]), r"found 0 to 9"),
    "index negative": (lambda: malformed(indices=[1, 0, 0, -3, 0, 1]), r"found -3 to 1"),
    "indptr decreases": (lambda: malformed(indptr=[0, 3, 2, 4, 6]), r"indptr decreases"),
    "indptr too long": (lambda: malformed(indptr=[0, 1, 2, 4, 99]), r"announces 99 values"),
    "indptr too short": (lambda: malformed(indptr=[0, 1, 2, 6]), r"indptr must have 5 entries"),
    "indptr starts late": (lambda: malformed(indptr=[1, 2, 3, 4, 6]), r"start at 0"),
    "values missing": (lambda: malformed(data=[1.0, 2.0]), r"6 indices and 2 values"),
    "csc index": (lambda: malformed("csc", indices=[1, 2, 3, 0, 2, 9]), r"CSC .*found 0 to 9"),
    "coo column": (lambda: malformed("coo", col=[1, 0, 0, 7, 0, 1]), r"COO matrix: col must lie"),
}  # fmt: skip

NEW_ROWS = {  # after a fit to a frame with the columns a and b
    "too many columns": (lambda: np.ones((2, 3)), r"X has 3 features, but \w+ is expecting 2"),
    "too few columns": (lambda: np.ones((2, 1)), r"X has 1 features, but \w+ is expecting 2"),
    "too many columns, csr": (lambda: sparse.csr_array(np.ones((2, 3))), r"X has 3 features"),
    "other names": (lambda: pd.DataFrame(X, columns=["a", "c"]), r"feature names should match"),
    "names in another order": (lambda: pd.DataFrame(X, columns=["b", "a"]), r"same order"),
    "a name missing": (
        lambda: pd.DataFrame(X[:, :1], columns=["a"]),
        r"feature names should match",
    ),
}

FINITE_Y = r"y must hold finite numbers from -1e\+100 to 1e\+100; y\[\d\] is "
NUMBER_Y = r"y must hold numbers; got values such as "
FLAT_Y = r"y should be a 1d array"
MISSING = r"Input y contains NaN or None: y\[\d\] is "

TARGETS_OF_ANY = {  # wrong for classifiers and regressors alike
    "nothing": (lambda: None, r"requires y to be passed"),
    "too few": (lambda: y[:3], r"inconsistent numbers of samples: \[4, 3\]"),
    "too many": (lambda: np.arange(5), r"inconsistent numbers of samples: \[4, 5\]"),
    "none": (lambda: [], r"inconsistent numbers of samples: \[4, 0\]"),
    "a number": (lambda: 3, r"y must be an array with one value per row of X; got y=3"),
    "no dimension": (lambda: np.array(1.0), r"y must be an array with one value per row of X"),
    "a word": (lambda: "abab", r"y must be an array with one value per row of X; got y='abab'"),
    "nan": (lambda: [0.0, 1.0, np.nan, 1.0], r"Input y contains NaN"),
    "inf": (lambda: [0.0, 1.0, np.inf, 1.0], r"Input y contains infinity"),
    "nan, object": (lambda: np.array([0, 1, np.nan, 1], dtype=object), MISSING + "nan"),
    "None": (lambda: np.array([0.5, None, 1.0, 2.0], dtype=object), r"y contains.*y\[1\] is None"),
    "None, word": (lambda: np.array([None, "a", "b", "a"], dtype=object), MISSING + "None"),
    "all None": (lambda: [None] * 4, MISSING + "None"),
    "pd.NA": (lambda: pd.array([0, 1, None, 1], "Int64"), r"Input y contains NaN"),
    "pd.NA, series": (lambda: pd.Series([0, 1, None, 1], dtype="Int64"), r"Input y contains NaN"),
    "pd.NA, object": (lambda: np.array([0, 1, pd.NA, 1], dtype=object), MISSING + "<NA>"),
    "pd.NaT, object": (lambda: np.array([0, 1, pd.NaT, 1], dtype=object), MISSING + "NaT"),
    "complex": (lambda: y + 1j, r"Complex data not supported"),
    "masked": (lambda: masked(y, 2), r"y has 1 masked values. Fill them, .*y.filled"),
    "three dimensions": (lambda: np.zeros((4, 2, 2)), r"Found array with dim 3"),
    "two columns": (lambda: np.column_stack([y + 0.5, y]), FLAT_Y),
    "sparse column": (lambda: sparse.csr_array(y[:, None]), r"y is sparse; .* Use y.toarray\(\)"),
    "dicts": (lambda: np.array([{}, {}, {}, {}], dtype=object), NUMBER_Y + r"|Unknown label type"),
    "ragged": (lambda: [[0], [1, 2], [0], [1]], r"y must hold one value per row of X: setting an"),
    "structured": (lambda: np.zeros(4, dtype=[("a", float)]), NUMBER_Y + "|y has one class only"),
}

TARGETS_OF_REGRESSORS = {
    "words": (lambda: list("abab"), NUMBER_Y + "'a'"),
    "words, object": (lambda: np.array([0.5, "a", 1.0, 2.0], dtype=object), NUMBER_Y + "'a'"),
    "numbers in words": (lambda: ["1", "2", "3", "4"], NUMBER_Y + "'1'"),
    "bytes": (lambda: np.array([b"1", b"2", b"3", b"4"]), NUMBER_Y + "b'1'"),
    "datetimes": (lambda: DAYS, NUMBER_Y + "datetime.date"),
    "durations": (lambda: DAYS - DAYS[0], NUMBER_Y + "datetime.timedelta"),
    "datetimes, series": (lambda: pd.Series(DAYS), NUMBER_Y),
    "datetime objects": (lambda: [datetime.datetime(2020, 1, 1)] * 4, NUMBER_Y + "datetime"),
    "dates, object": (lambda: DAYS.astype(object), NUMBER_Y + "datetime.date"),
    "1e200": (lambda: 1e200 * y, FINITE_Y + r"1e\+200"),
    "-1e308": (lambda: -1e308 * y, FINITE_Y + r"-1e\+308"),
    "huge whole numbers": (lambda: [0, 10**400, 1, 2], NUMBER_Y + "1000"),
    "huge decimals": (lambda: np.array([Decimal("1e999")] * 4), r"y must hold|y contains inf"),
    "beyond float64": (lambda: np.array([1, 2, 3, "1e4000"], np.longdouble), r"y must hold finite"),
    "two columns of targets": (lambda: np.column_stack([y, y]), FLAT_Y),
}

TARGETS_OF_CLASSIFIERS = {
    "one class": (lambda: [1, 1, 1, 1], r"y has one class only, 1; a classifier needs at least"),
    "one class of words": (lambda: ["a"] * 4, r"y has one class only, 'a'; a classifier needs"),
    "fractions": (lambda: [0.5, 1.5, 2.5, 0.25], r"Unknown label type: continuous"),
    "words and numbers": (
        lambda: np.array(["a", 1, "b", 2], dtype=object),
        r"y must hold labels of one type",
    ),
    "fractions in columns": (lambda: np.column_stack([y, y]) + 0.5, r"Unknown label type|1d array"),
    "classes in columns": (
        lambda: np.column_stack([y, y]) + 2,
        r"y has 2 columns, so it must hold 0 and 1.*\[2, 3\]",
    ),
    "signs in columns": (lambda: np.column_stack([y, y]) * 2 - 1, r"so it must hold 0 and 1"),
    "many classes in columns": (lambda: np.column_stack([np.arange(4)] * 2), FLAT_Y),
    "one class, weighted": (lambda: y * 0, r"y has one class only, 0"),
}

SUM = r"sample_weight sums to \S+; the sum must lie between 1e-100 and 1e\+100"
NUMBER_S = r"sample_weight must hold numbers"
WEIGHTS = {
    "negative": (lambda: [1, -1, 1, 1], r"weights must not be negative; the least is -1"),
    "negative number": (lambda: -1.0, r"weights must not be negative; the least is -1"),
    "-0.001": (lambda: [1, 1, 1, -1e-3], r"weights must not be negative; the least is -0.001"),
    "all zero": (lambda: [0, 0, 0, 0], r"sample_weight is zero for every row"),
    "zero": (lambda: 0, r"sample_weight is zero for every row"),
    "all False": (lambda: np.zeros(4, dtype=bool), r"sample_weight is zero for every row"),
    "nan": (lambda: [1, np.nan, 1, 1], r"sample_weight contains NaN or infinity"),
    "inf": (lambda: [1, np.inf, 1, 1], r"sample_weight contains NaN or infinity"),
    "None among them": (lambda: [1, None, 1, 1], r"sample_weight contains NaN or infinity"),
    "nan number": (lambda: np.nan, r"sample_weight contains NaN or infinity"),
    "too few": (lambda: [1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
    "too many": (lambda: np.ones(5), r"sample_weight.shape == \(5,\), expected \(4,\)"),
    "none": (lambda: [], r"sample_weight.shape == \(0,\), expected \(4,\)"),
    "a column": (lambda: np.ones((4, 1)), r"sample_weight.shape == \(4, 1\), expected \(4,\)"),
    "a matrix": (lambda: np.ones((4, 4)), r"sample_weight.shape == \(4, 4\), expected \(4,\)"),
    "words": (lambda: list("abcd"), NUMBER_S),
    "numbers in words": (lambda: ["1", "2", "3", "4"], NUMBER_S),
    "a word": (lambda: "balanced", NUMBER_S),
    "complex": (lambda: np.ones(4) + 1j, NUMBER_S),
    "datetimes": (lambda: DAYS, NUMBER_S),
    "durations": (lambda: DAYS - DAYS[0], NUMBER_S),
    "dicts": (lambda: [{}] * 4, NUMBER_S),
    "a dict": (lambda: {0: 1.0, 1: 2.0}, NUMBER_S),
    "ragged": (lambda: [[1], [1, 2], [1], [1]], NUMBER_S),
    "pd.NA": (lambda: pd.array([1, None, 1, 1], "Int64"), NUMBER_S + "|contains NaN"),
    "sparse": (lambda: sparse.csr_array(np.ones((4, 1))), NUMBER_S),
    "masked": (lambda: masked(np.ones(4), 1), r"sample_weight has 1 masked values"),
    "structured": (lambda: np.ones(4, dtype=[("a", float)]), NUMBER_S),
    "1e308": (lambda: [1e308] * 4, SUM),
    "1e308, number": (lambda: 1e308, SUM),
    "1e120": (lambda: [1, 1, 1e120, 1], SUM),
    "1e-320": (lambda: [1e-320] * 4, SUM),
    "huge whole numbers": (lambda: [1, 10**400, 1, 1], NUMBER_S),
}

CLASS_WEIGHTS = {
    "unknown class": ({7: 2.0}, r"class_weight names \[7\], which y does not contain; its classes"),
    "class as a word": ({"0": 2.0}, r"class_weight names \['0'\], which y does not contain"),
    "negative": ({0: -1.0}, r"class_weight must hold numbers from 0 to 1e\+100; got \{0: -1.0\}"),
    "nan": ({0: np.nan}, r"class_weight must hold numbers from 0"),
    "inf": ({0: np.inf}, r"class_weight must hold numbers from 0"),
    "1e308": ({0: 1e308, 1: 1e308}, r"class_weight must hold numbers from 0 to 1e\+100"),
    "huge": ({0: 10**400}, r"class_weight must hold numbers from 0"),
    "word": ({0: "2"}, r"class_weight must hold numbers from 0"),
    "None": ({0: None}, r"class_weight must hold numbers from 0"),
    "complex": ({0: 1j}, r"class_weight must hold numbers from 0"),
    "list": ({0: [1.0]}, r"class_weight must hold numbers from 0"),
    "one zero": ({0: 0.0}, r"one class only, 1 among the rows of positive weight"),
    "all zero": ({0: 0.0, 1: 0.0}, r"sample_weight times class_weight is zero"),
    "tiny": ({0: 1e-320, 1: 1e-320}, r"class_weight times sample_weight sums to \S+; the sum must"),
    "sum": ({0: 1e100, 1: 1e100}, r"class_weight times sample_weight sums to \S+; the sum must"),
}
