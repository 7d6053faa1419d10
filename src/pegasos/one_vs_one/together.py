"""What a fit of pairs of classes says of all of them together: certificate, history, outcome."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate.stopping import Certificate, Outcome
from pegasos.certificate.trace import Record, Trace
from pegasos.data.rows import FloatArray
from pegasos.one_vs_one.models import Pairs

WORST_FIRST = (
    Outcome.INTERRUPT, Outcome.TIME, Outcome.EPOCHS, Outcome.STEPS, Outcome.CALLBACK,
    Outcome.ROUNDING, Outcome.INDEFINITE, Outcome.DECISIONS, Outcome.DONE, Outcome.TOLERANCE,
)  # fmt: skip


class Together(NamedTuple):
    """What is known of all pairs together, as `Solution` has it of one problem."""

    certificate: Certificate
    trace: Trace
    outcome: Outcome


def known_together(pairs: Pairs, tol: float, seconds: float) -> Together:
    """Return what is known of all pairs."""
    return Together(certificate_of(pairs, tol, seconds), trace_of(pairs), outcome_of(pairs))


def outcome_of(pairs: Pairs) -> Outcome:
    """Return why the fit ended: the worst that happened to a pair."""
    return min(pairs.outcomes, key=WORST_FIRST.index)


def certificate_of(pairs: Pairs, tol: float, seconds: float) -> Certificate:
    """Return what is proven: sums over the pairs, and the worst relative gap of one."""
    found = [certificate for certificate in pairs.certificates if certificate is not None]
    facts, outcome = pairs.facts, outcome_of(pairs)
    is_proven = all(certificate.is_proven for certificate in found)
    audited = [certificate.basis for certificate in found if certificate.basis != "recomputed"]
    tested = any(certificate.kernel_tested_on for certificate in found)
    return Certificate(
        primal=float(facts["primal"].sum()),
        dual=float(facts["dual"].sum()),
        gap=float(facts["gap"].sum()),
        relative_gap=float(facts["relative_gap"].max()),
        tol=tol,
        reason=outcome.value if is_proven else outcome.value_without_proof,
        epochs=max((certificate.epochs for certificate in found), default=0),
        seconds=seconds,
        models=dict(facts),
        is_proven=is_proven,
        basis=max(audited, default="recomputed"),
        kernel_tested_on="the rows of every pair of classes" if tested else "",
    )


def history_of(pairs: Pairs) -> dict[str, FloatArray]:
    """Return one entry per pair, in their order: sums so far, and the worst relative gap so far."""
    known = [record for record in pairs.records if record is not None]
    columns: dict[str, Any] = {}
    for name, numbers in Trace(known).as_dict().items():
        worst = name in ("seconds", "relative_gap")
        columns[name] = np.maximum.accumulate(numbers) if worst else np.cumsum(numbers)
    return columns


def record_of(pairs: Pairs, done: int, seconds: float) -> Record:
    """Return the state of the fit after so many pairs, in whatever order they came."""
    facts = pairs.facts  # 0 of pairs that are not done
    return Record(
        epoch=done,
        seconds=seconds,
        rows_visited=0,
        primal=float(facts["primal"].sum()),
        dual=float(facts["dual"].sum()),
        gap=float(facts["gap"].sum()),
        relative_gap=float(facts["relative_gap"].max()),
    )


def trace_of(pairs: Pairs) -> Trace:
    """Return the history of the pair that is farthest from its tolerance."""
    return pairs.traces[int(pairs.facts["relative_gap"].argmax())]
