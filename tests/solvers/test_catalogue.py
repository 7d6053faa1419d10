"""What solvers can do, and what is refused with a sentence that says what to use instead."""

import pytest
from sklearn.base import clone

from pegasos.errors import InvalidParameter
from pegasos.problem.joint_losses import JointHinge, Softmax, zero_one
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.solvers.auto import Auto
from pegasos.solvers.catalogue import (
    BIASES,
    KERNEL_SOLVERS,
    LINEAR_SOLVERS,
    linear_solver,
    resolve,
    resolve_kernel,
    resolve_kernel_stream,
    resolve_stream,
)
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.lasvm.lasvm import LASVM
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sgd.sgd import SGD

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("name", LINEAR_SOLVERS)
def test_names_give_solvers_of_that_name(name):
    assert linear_solver(name).name == name
    assert resolve(name, Hinge(), "none").name == name


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_auto_is_left_open_until_the_data_is_known(bias):
    assert isinstance(resolve("auto", Logistic(), bias), Auto)


@pytest.mark.parametrize("bias", ["free-subgradient", "free-search"])
def test_auto_is_pegasos_where_only_pegasos_has_the_bias(bias):
    assert isinstance(resolve("auto", Logistic(), bias), Pegasos)


@pytest.mark.parametrize("bias", BIASES)
def test_the_way_of_the_bias_goes_to_a_copy(bias):
    options = Pegasos(batch_size=7)
    found = resolve(options, Hinge(), bias)
    assert found.bias_way == bias
    assert found.batch_size == 7
    assert options.bias_way == "free"
    assert "bias_way" not in options.get_params()
    assert clone(options) == options


@pytest.mark.parametrize(
    ("solver", "loss", "bias", "message"),
    [
        ("sdca", Hinge(), "free-batch",
         'solver="sdca" has no bias="free-batch"; use bias="free" or solver="pegasos"'),
        ("sgd", Hinge(), "free-search",
         'solver="sgd" has no bias="free-search"; use bias="free" or solver="pegasos"'),
        ("sgd", Hinge(), "free-subgradient", 'solver="sgd" has no bias="free-subgradient"'),
        ("pegasos", Hinge(), "free-batch", "needs batch_size >= 2; got batch_size=1"),
        ("auto", Hinge(), "free-batch", r"Use solver=Pegasos\(batch_size=...\)"),
        (Pegasos(batch_size=9), Logistic(), "free-batch", "weighted median.* Use bias=\"free\""),
        (Pegasos(batch_size=9), SquaredHinge(), "free-batch", "weighted median"),
        (SGD(variant="m"), EpsilonInsensitive(0.1), "none", 'Use variant="s", or loss="hinge"'),
        (SGD(variant="m"), Logistic(), "free", "counts margin errors of the hinge loss"),
        ("pegasos", Hinge(), "both", 'bias must be one of "none", .* got \'both\''),
        ("simplex", Hinge(), "free",
         'solver must be "auto", "sdca", "newton", "pegasos", "sgd", "perceptron" or an object'),
        ("perceptron", Logistic(), "free", 'solver="perceptron" .* judged by the hinge loss'),
        (3, Hinge(), "free", r"solver must be a name or one of SDCA\(...\), .*; got 3"),
        (Pegasos(batch_size="all"), Hinge(), "free", "batch_size must be a whole number"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_with_advice(solver, loss, bias, message):
    with pytest.raises(InvalidParameter, match=message):
        resolve(solver, loss, bias)


def test_multiple_presentations_take_the_hinge():
    assert resolve(SGD(variant="m"), Hinge(), "free").variant == "m"


@pytest.mark.parametrize("name", KERNEL_SOLVERS)
def test_names_give_kernel_solvers_of_that_name(name):
    assert resolve_kernel(name, Hinge(), "none").name == name


def test_auto_is_decomposition_where_the_dual_is_quadratic():
    for loss in (Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)):
        assert resolve_kernel("auto", loss, "free").name == "decomposition"
    assert resolve_kernel("auto", Logistic(), "free").name == "sdca"


@pytest.mark.parametrize(
    ("solver", "loss", "bias", "message"),
    [
        ("newton", Hinge(), "free", 'solver must be "auto", "decomposition", .* got \'newton\''),
        (SDCA(), Hinge(), "free", r"one of Decomposition\(...\), .*; got SDCA"),
        (
            "decomposition",
            Logistic(),
            "free",
            'solver="decomposition" has no loss=.*use solver="sdca"',
        ),
        ("lasvm", SquaredHinge(), "none", 'solver="lasvm" has no loss='),
        ("auto", Hinge(), "regularized", 'bias must be "free" or "none" with a kernel'),
        (Decomposition(working_set=0), Hinge(), "free", "working_set must be a whole number"),
        (Decomposition(shrinking=2), Hinge(), "free", "shrinking must be True or False"),
    ],
)
def test_kernel_refusals_say_what_to_use(solver, loss, bias, message):
    with pytest.raises(InvalidParameter, match=message):
        resolve_kernel(solver, loss, bias)


@pytest.mark.parametrize("solver", ["auto", "pegasos", Pegasos(batch_size=7, output="last")])
def test_streams_take_pegasos_steps(solver):
    found = resolve_stream(solver, Logistic(), "free")
    assert isinstance(found, Pegasos)
    assert found.batch_size == getattr(solver, "batch_size", 1)


@pytest.mark.parametrize(
    ("solver", "bias", "message"),
    [
        ("sdca", "free", "partial_fit takes Pegasos steps; got solver='sdca'. Use \"auto\" or"),
        (SDCA(), "free", r"partial_fit takes Pegasos steps; got solver=SDCA\("),
        ("auto", "free-search", "partial_fit has no bias='free-search', which needs all rows; use"),
        (Pegasos(sampling="iid"), "free", "Only batch_size may be set"),
        (Pegasos(output="average"), "free", "Only batch_size may be set"),
        (Pegasos(batch_size=0), "free", "batch_size must be a whole number from 1"),
    ],
)
def test_streams_refuse_what_needs_all_rows(solver, bias, message):
    with pytest.raises(InvalidParameter, match=message):
        resolve_stream(solver, Hinge(), bias)


@pytest.mark.parametrize("solver", ["auto", "lasvm", LASVM()])
def test_kernel_streams_take_lasvm_steps(solver):
    assert isinstance(resolve_kernel_stream(solver, Hinge(), "free"), LASVM)


@pytest.mark.parametrize(
    ("solver", "loss", "bias", "message"),
    [
        ("sdca", Hinge(), "free", "partial_fit takes LASVM steps; got solver='sdca'. Use \"auto\""),
        ("simplex", Hinge(), "free", 'solver must be "auto", "decomposition", .*; got \'simplex\''),
        ("auto", Logistic(), "free", 'partial_fit needs loss="hinge"; got loss=Logistic'),
        ("auto", Hinge(), "regularized", 'bias must be "free" or "none" with a kernel'),
        (LASVM(tau=-1.0), Hinge(), "free", "tau must be a positive number; got -1.0"),
    ],
)
def test_kernel_streams_refuse_what_lasvm_cannot_do(solver, loss, bias, message):
    with pytest.raises(InvalidParameter, match=message):
        resolve_kernel_stream(solver, loss, bias)


def test_weights_are_refused_where_a_solver_has_none():
    with pytest.raises(InvalidParameter, match='has no sample weights .* use solver="decompos'):
        resolve_kernel("batch_perceptron", Hinge(), "free", has_weights=True)
    assert resolve_kernel("lasvm", Hinge(), "free", has_weights=True).name == "lasvm"


@pytest.mark.parametrize("table", [LINEAR_SOLVERS, KERNEL_SOLVERS])
def test_every_solver_is_entered_under_its_own_name_and_described(table):
    for name, ability in table.items():
        assert ability.solver.name == name
        assert ability.what
        assert ability.use
        assert set(ability.biases) <= set(BIASES)


@pytest.mark.parametrize("solver", ["sgd", "perceptron"])
def test_solvers_without_joint_steps_refuse_joint_losses(solver):
    with pytest.raises(InvalidParameter, match=f'"{solver}".*(has no loss|trains no joint|judged)'):
        resolve(solver, Softmax(), "free")


def test_a_way_to_the_bias_without_joint_steps_is_refused():
    with pytest.raises(InvalidParameter, match='bias="free-search" trains no joint model'):
        resolve("pegasos", JointHinge(zero_one(3)), "free-search")
