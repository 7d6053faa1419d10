"""Records of the present model at chosen steps, and fits that end inside an epoch."""

import io
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from pegasos import (
    LASVM,
    MPU,
    OCAS,
    SDCA,
    SGD,
    SGDQN,
    SVMSGD,
    BatchPerceptron,
    Decomposition,
    KernelPegasos,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    KernelPerceptron,
    KernelSDCA,
    Newton,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    Perceptron,
    Recorder,
    SVMPerf,
)
from pegasos.around import Around
from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidData, InvalidParameter, ToleranceNotReached
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.kernel_matrix.store import RowStore
from pegasos.problem.kernels import Gaussian
from pegasos.problem.losses import Hinge, value
from pegasos.problem.objective import Costs, Weights, make_problem
from pegasos.progress import Watch
from pegasos.recorder import HeldOut, Recording
from pegasos.solve import Run, solve
from tests.conftest import draw
from tests.reference import objective
from tests.reference import pegasos as reference
from tests.reference.kernel_optimum import kernel_optimum

LINEAR = [
    Pegasos(output="last"), Pegasos(3, output="average"), SGD(), SDCA(), Perceptron(), MPU(),
    SVMSGD(), SGDQN(),
]  # fmt: skip
KERNEL = [
    KernelPegasos(output="last"), KernelPegasos(3, output="average"), KernelSDCA(),
    BatchPerceptron(), KernelPerceptron(), Decomposition(working_set=2),
]  # fmt: skip
STEPS = [0, 1, 5, 18, 40]


def hinge_at(drawn, w, b=0.0):
    return objective.primal(
        lambda z, y: value(Hinge(), z, y), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, w, b,
        drawn.bias_scale if drawn.bias == "regularized" else 0.0,
    )  # fmt: skip


def kernel_problem(n=30, bias="none", seed=0):
    drawn = draw(Hinge(), seed, n=n, bias=bias)
    gram = Gram(Gaussian(0.3), drawn.problem.rows, 10**8)
    return drawn, drawn.problem._replace(rows=gram)


def followed(problem, solver, steps, limits, test=None, seed=0):
    return solve(problem, solver, limits, seed=seed, recording=Recording(steps, test))


@pytest.mark.fast
@pytest.mark.parametrize("k", [1, 4])
def test_records_are_of_the_present_iterate(k):
    drawn = draw(Hinge(), 1)
    solver = Pegasos(batch_size=k, output="last")
    state, orders = solver.start(drawn.problem, 5, None), []
    for _ in range(6):
        while not solver.advance(drawn.problem, state).ends_epoch:
            pass
        orders += [list(state.order[t : t + k]) for t in range(0, 30, k)]
    limits = Stopping(tol=1e-9, max_iter=6)
    found = followed(drawn.problem, solver, STEPS, limits, seed=5)
    take = reference.explicit(lambda z, y: -y if y * z < 1.0 else 0.0)
    assert [moment.step for moment in found.moments] == STEPS
    for moment in found.moments:
        batches = orders[: moment.step]
        w = np.zeros(6)
        if batches:
            w = reference.pegasos(take, drawn.X, drawn.y[:, 0], drawn.weights, 0.05, batches).w[:-1]
        assert moment.objective == pytest.approx(hinge_at(drawn, w), rel=1e-10)
        assert moment.rows_visited == sum(map(len, batches))


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("solver", LINEAR, ids=str)
def test_looking_at_a_linear_run_changes_no_bit_of_it(solver, bias):
    drawn = draw(Hinge(), 2, kind="csr", weighted=True, bias=bias)
    limits = Stopping(tol=1e-9, max_iter=3)
    alone = solve(drawn.problem, solver, limits)
    seen = followed(drawn.problem, solver, STEPS, limits)
    np.testing.assert_array_equal(alone.W, seen.W)
    np.testing.assert_array_equal(alone.b, seen.b)
    ended = 30 if isinstance(solver, Perceptron) else np.inf
    assert [moment.step for moment in seen.moments] == [
        step for step in STEPS if step <= (30 if solver == LINEAR[1] else ended)
    ]


def solver_rows(solver):
    return getattr(solver, "batch_size", 1)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("solver", KERNEL, ids=str)
def test_looking_at_a_kernel_run_changes_no_more_than_rounding(solver, bias):
    limits = Stopping(tol=1e-5, max_iter=3)
    _, problem = kernel_problem(bias=bias)
    alone = solve(problem, solver, limits)
    _, problem = kernel_problem(bias=bias)
    seen = followed(problem, solver, STEPS, limits)
    np.testing.assert_allclose(alone.W, seen.W, rtol=1e-9, atol=1e-12)
    counts = [moment.evaluations for moment in seen.moments]
    assert counts == sorted(counts)
    assert counts[-1] <= 30 * 30
    used = [moment.kernel_rows for moment in seen.moments]
    if isinstance(solver, KernelPerceptron):
        assert set(used) == {None}
    else:  # a step uses one row at most, SMO two with a bias
        per_step = (
            2 if isinstance(solver, Decomposition) and bias == "free" else solver_rows(solver)
        )
        assert used == sorted(used)
        assert all(0 <= m.kernel_rows <= per_step * m.step for m in seen.moments)
        assert used[1] > 0
    assert len(counts) >= 3


@pytest.mark.fast
@pytest.mark.parametrize("solver", [KernelPegasos(output="last"), Decomposition(working_set=2)])
def test_looking_is_not_counted(solver):
    # A store with room for few rows: scores for records need values that are not in it.
    counts = []
    for steps in ([60], range(61)):
        _, problem = kernel_problem(n=60)
        problem.rows.kept = RowStore(60, problem.rows.store[:8].copy())
        found = followed(problem, solver, steps, Stopping(tol=1e-9, max_steps=60))
        counts.append((found.moments[-1].evaluations, problem.rows.misses))
    (once, misses), (always, all_misses) = counts
    assert always <= once  # blocks ahead of the steps end at the next record
    assert all_misses <= misses


@pytest.mark.fast
def test_test_rows_are_scored_by_the_present_model():
    drawn, problem = kernel_problem()
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((11, 6)), np.where(rng.random(11) > 0.5, 1.0, -1.0)
    costs = Costs(Hinge(), y[:, None], Weights(np.ones(1), 0))
    rows = Cross(Gaussian(0.3), as_rows(X), drawn.problem.rows)
    test = HeldOut(rows, costs, lambda Z: float((np.sign(Z[:, 0]) != y).mean()))
    limits = Stopping(tol=1e-9, max_steps=17)
    found = followed(problem, KernelPegasos(output="last"), [0, 17], limits, test)
    squares = ((X[:, None] - drawn.X[None]) ** 2).sum(axis=2)
    scores = np.exp(-0.3 * squares) @ found.W[:, 0] + found.b[0]
    assert found.outcome is Outcome.STEPS
    assert found.moments[0].test_loss == 1.0
    assert found.moments[1].test_error == (np.sign(scores) != y).mean()
    assert found.moments[1].test_loss == pytest.approx(np.maximum(0.0, 1.0 - y * scores).mean())
    assert found.moments[1].objective == pytest.approx(found.certificate.primal, rel=1e-6)


@pytest.mark.fast
@pytest.mark.parametrize("output", ["last", "average", "random"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_what_is_asked_for_is_what_is_handed_out(output, bias):
    drawn = draw(Hinge(), 4, bias=bias)
    solver = Pegasos(output=output)
    exact = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=10_000)).certificate
    for steps in (1, 17, 30, 100, 450, 613, 800):  # earlier certificates were of better models, too
        limits = Stopping(tol=1e-9, max_steps=steps)
        found = followed(drawn.problem, solver, [steps], limits, seed=3)
        assert found.outcome is Outcome.STEPS
        certificate = found.certificate
        assert certificate.primal == pytest.approx(found.moments[0].objective, rel=1e-9)
        assert certificate.primal == pytest.approx(
            hinge_at(drawn, found.W[:, 0], found.b[0]), rel=1e-9
        )
        assert certificate.dual <= exact.primal
        assert certificate.primal >= exact.dual


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("output", ["last", "average"])
def test_what_is_asked_for_of_a_kernel_is_what_is_handed_out(output, bias):
    drawn, problem = kernel_problem(bias=bias, seed=4)
    K = np.exp(-0.3 * ((drawn.X[:, None] - drawn.X[None]) ** 2).sum(axis=2))
    for steps in (7, 45, 90):
        limits = Stopping(tol=1e-9, max_steps=steps)
        found = followed(problem, KernelPegasos(output=output), [steps], limits, seed=3)
        B, b, y = found.W[:, 0], found.b[0], drawn.y[:, 0]
        primal = 0.025 * B @ K @ B + np.maximum(0.0, 1.0 - y * (K @ B + b)).mean()
        assert found.certificate.primal == pytest.approx(primal, rel=1e-6)
        assert found.moments[0].objective == pytest.approx(primal, rel=1e-9)
        best, _ = kernel_optimum(K, y, drawn.weights, 0.05, "hinge", bias)
        assert found.certificate.dual - 1e-6 <= best <= found.certificate.primal + 1e-6


@pytest.mark.fast
def test_an_earlier_better_model_is_not_handed_out_where_the_last_is_asked_for():
    drawn = draw(Hinge(), 5)
    solver, worse = Pegasos(output="last"), 0
    before = np.inf
    for epochs in range(1, 12):
        found = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=epochs))
        primal = found.certificate.primal
        worse, before = worse + (primal > before), primal
    assert worse > 0  # an objective that only falls would be that of the best one so far


@pytest.mark.fast
def test_the_tail_inside_an_epoch_counts_the_part_that_is_behind():
    # The sum of all steps over lam times the weight of the rows met: for the first three epochs
    # the tail is the whole run, and its average the last iterate.
    drawn, problem = kernel_problem(seed=8)
    linear = drawn.problem
    for posed, last, tail in (
        (linear, Pegasos(output="last"), Pegasos()),
        (problem, KernelPegasos(output="last"), KernelPegasos()),
    ):
        limits = Stopping(tol=1e-9, max_steps=77)
        first = followed(posed, last, [40, 55, 77], limits)
        other = followed(posed, tail, [40, 55, 77], limits)
        for one, two in zip(first.moments, other.moments, strict=True):
            assert two.objective == pytest.approx(one.objective, rel=1e-9)


@pytest.mark.fast
def test_records_go_on_in_a_run_that_was_saved():
    problem = draw(Hinge(), 6).problem
    limits = Stopping(tol=1e-9, max_iter=4)
    whole = followed(problem, Pegasos(output="last"), range(0, 120, 7), limits)

    def around():
        return Around(problem.costs.loss, Watch(), recording=Recording(range(0, 120, 7)))

    run = Run(problem, limits, around())
    run.start(Pegasos(output="last"), seed=0)
    for _ in range(8):
        run.advance()
    file = io.BytesIO()
    np.savez(file, **run.save())
    file.seek(0)
    run = Run.load(problem, limits, around(), np.load(file, allow_pickle=False))
    while run.outcome is None:
        run.advance()
    again = run.finish()
    assert [(m.step, m.objective) for m in again.moments] == [
        (m.step, m.objective) for m in whole.moments
    ]


@pytest.mark.parametrize("solver", [*KERNEL, LASVM()], ids=str)
@pytest.mark.parametrize("most", [1, 17, 29])
def test_a_kernel_fit_ends_after_max_steps_exactly(solver, most):
    _, problem = kernel_problem()
    found = followed(problem, solver, [most], Stopping(tol=1e-12, max_steps=most))
    assert found.outcome is Outcome.STEPS
    assert [moment.step for moment in found.moments] == [most]


@pytest.mark.fast
@pytest.mark.parametrize("solver", [SVMPerf(), OCAS()], ids=str)
def test_cutting_planes_end_after_whole_passes(solver):
    problem = draw(Hinge(), 7, n=20, bias="none").problem
    for most, ends in ((1, 20), (60, 60), (61, 80)):
        found = followed(problem, solver, [most], Stopping(tol=1e-12, max_steps=most))
        assert (found.outcome, found.moments[-1].step) == (Outcome.STEPS, ends)


@pytest.mark.fast
def test_solvers_of_many_rows_at_once_are_recorded_as_soon_as_they_can():
    problem = make_problem(Hinge(), draw(Hinge(), 7).problem.rows, draw(Hinge(), 7).y, None, 0.05)
    found = followed(problem, Newton(), [0, 1, 2], Stopping(tol=1e-6))
    assert found.moments[0].step == 0
    assert found.moments[1].step >= 2


def fit(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceNotReached)
        return model.fit(*data)


def data(classes=2):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((40, 3))
    edges = np.linspace(-0.5, 0.5, classes - 1)
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(40), edges)
    return X[:30], np.array(["a", "b", "c"])[y[:30]], X[30:], np.array(["a", "b", "c"])[y[30:]]


@pytest.mark.fast
@pytest.mark.parametrize("classes", [2, 3])
def test_estimators_keep_records(classes):
    X, y, X_test, y_test = data(classes)
    for model in (
        PegasosClassifier(solver=Pegasos(output="last")),
        KernelPegasosClassifier(solver=KernelSDCA(), multiclass="ovr"),
    ):
        model.set_params(tol=1e-9, max_steps=45, random_state=0)
        fit(model.set_params(record=Recorder([0, 45], X_test, y_test)), X, y)
        assert model.records_["step"].tolist() == [0, 45]
        assert model.records_["test_error"][-1] == pytest.approx(1.0 - model.score(X_test, y_test))
        assert model.certificate_.reason == "max_steps was reached"
        assert ("evaluations" in model.records_) == isinstance(model, KernelPegasosClassifier)


@pytest.mark.fast
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_joint_models_are_recorded(loss):
    X, y, X_test, y_test = data(3)
    record = Recorder([0, 45, 450], X_test, y_test)
    model = fit(PegasosClassifier(loss=loss, solver="sdca", tol=1e-9, record=record), X, y)
    first, last = model.records_["objective"][[0, -1]]
    assert model.certificate_.dual <= last < first <= (1.0 if loss == "hinge" else np.log(3.0))


@pytest.mark.fast
@pytest.mark.parametrize(
    ("Estimator", "solver"),
    [
        (PegasosRegressor, Pegasos(output="last")),
        (KernelPegasosRegressor, KernelPegasos(output="last")),
    ],
)
def test_regressors_keep_records(Estimator, solver):
    X, _, X_test, _ = data()
    record = Recorder([0, 45], X_test, X_test[:, 0])
    model = fit(Estimator(tol=1e-9, solver=solver, max_steps=45, record=record), X, X[:, 0])
    errors = ((model.predict(X_test) - X_test[:, 0]) ** 2).mean()
    assert model.records_["test_error"][-1] == pytest.approx(errors, rel=1e-9)
    again = fit(clone(model), X, X[:, 0])
    assert again.records_["step"].tolist() == [0, 45]
    with pytest.raises(AttributeError, match=r"after a fit with record=Recorder\(steps=\[...\]\)"):
        fit(Estimator(max_iter=2), X, X[:, 0]).records_  # noqa: B018


@pytest.mark.fast
def test_a_precomputed_kernel_is_tested_on_its_values():
    X, y, X_test, y_test = data()
    record = Recorder([30], X_test @ X.T, y_test)
    model = KernelPegasosClassifier(
        kernel="precomputed", solver=KernelPegasos(output="last"), max_steps=30, tol=1e-9,
        record=record,
    )  # fmt: skip
    fit(model, X @ X.T, y)
    assert model.records_["test_error"][0] == pytest.approx(1.0 - model.score(X_test @ X.T, y_test))


@pytest.mark.fast
def test_a_fit_ended_by_max_steps_says_what_to_do():
    X, y, _, _ = data()
    with pytest.warns(ToleranceNotReached, match="raise max_steps=7, or leave it out"):
        PegasosClassifier(solver="pegasos", max_steps=7).fit(X, y)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"record": [1, 2]}, r"record must be a Recorder or None; got \[1, 2\]. Use"),
        ({"record": Recorder([])}, r"steps of a Recorder must be a list of whole numbers, 0 or"),
        ({"record": Recorder([-1, 3])}, r"steps of a Recorder .* got \[-1, 3\]"),
        ({"record": Recorder([0.5])}, r"steps of a Recorder .* got \[0.5\]"),
        ({"record": Recorder(7)}, r"steps of a Recorder .* got 7"),
        ({"record": Recorder([1], [[1.0]])}, "Recorder has X_test without y_test; give both"),
        ({"record": Recorder([1], clock="sun")}, 'clock of a Recorder must be "wall" or "cpu"'),
        ({"record": Recorder([1], None, [1.0])}, "Recorder has y_test without X_test; give both"),
        ({"max_steps": 0}, "max_steps must be a whole number, 1 or more; got max_steps=0"),
        ({"max_steps": 2.5}, "max_steps must be a whole number, 1 or more; got max_steps=2.5"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters, message):
    X, y, _, _ = data()
    for Estimator in (PegasosClassifier, KernelPegasosClassifier):
        with pytest.raises(InvalidParameter, match=message):
            Estimator(**parameters).fit(X, y)


@pytest.mark.fast
def test_steps_that_no_run_reaches_leave_empty_records_of_what_is_always_known():
    X, y, _, _ = data()
    records = PegasosClassifier(record=Recorder([10**9])).fit(X, y).records_
    assert {name: len(known) for name, known in records.items()} == {
        "step": 0, "rows_visited": 0, "seconds": 0, "objective": 0,
    }  # fmt: skip


@pytest.mark.fast
def test_test_rows_that_do_not_fit_are_refused():
    X, y, X_test, y_test = data(3)
    with pytest.raises(InvalidData, match="X_test of the Recorder has 10 rows, and y_test 9"):
        PegasosClassifier(record=Recorder([1], X_test, y_test[:9])).fit(X, y)
    with pytest.raises(InvalidData, match="which is not among the classes"):
        PegasosClassifier(record=Recorder([1], X_test, ["z"] * 10)).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        PegasosClassifier(record=Recorder([1], X_test[:, :2], y_test)).fit(X, y)
    with pytest.raises(InvalidParameter, match='use multiclass="ovr", or two classes'):
        KernelPegasosClassifier(record=Recorder([1])).fit(X, y)


@pytest.mark.fast
def test_a_clock_of_the_processor_leaves_out_what_the_processor_compiled(monkeypatch):
    now = {"perf_counter": 0.0, "process_time": 0.0}
    for name in now:
        monkeypatch.setattr(f"pegasos.around.time.{name}", lambda name=name: now[name])
    around = Around(Hinge(), recording=Recording([1], clock="cpu"))
    around.compilation.on_start()
    now |= {"perf_counter": 10.0, "process_time": 4.0}  # on a machine that others use, too
    around.compilation.on_end()
    now["process_time"] = 5.0
    assert around.seconds() == 1.0
