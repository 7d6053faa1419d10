"""Refusals: what cannot work together, each with a sentence that says what to use instead.

Solvers, losses, biases, weights, kernels, streams and ways to train several classes do not all go
with each other. What does not is refused here and nowhere else, before data is touched where that
is possible. What a solver can do is passed in, from the table in `solvers.catalogue`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pegasos.data.rows import CsrRows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, Logistic
from pegasos.solvers.pegasos.batch_bias import PIECEWISE_LINEAR

KERNEL_BIASES = ("none", "free")
STREAM_BIASES = ("free", "free-subgradient", "regularized", "none")


def listed(names: Iterable[str], last: str = " or ") -> str:
    """Write names as a sentence does: "a", "b" or "c"."""
    quoted = [f'"{name}"' for name in names]
    return last.join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)


# ---- solvers


def no_such_solver(solver: Any, table: Mapping[str, Any]) -> InvalidParameter:
    """Return the refusal of what is neither the name of a solver nor one of them."""
    if isinstance(solver, str):
        names = listed(["auto", *table], ", ")
        return InvalidParameter(f"solver must be {names} or an object; got {solver!r}.")
    classes = ", ".join(f"{entry.solver.__name__}(...)" for entry in table.values())
    return InvalidParameter(f"solver must be a name or one of {classes}; got {solver!r}.")


def check_solver_and_bias(name: str, bias: str, biases: tuple[str, ...]) -> None:
    """Refuse a way of finding the bias that a solver does not have."""
    if bias not in biases:
        instead = "free" if "free" in biases else biases[0]
        raise InvalidParameter(
            f'solver="{name}" has no bias="{bias}"; use bias="{instead}" or solver="pegasos".'
        )


def check_solver_and_loss(
    name: str, loss: Any, losses: tuple[type, ...] | None, others: list[str]
) -> None:
    """Refuse a loss that a solver does not have; None stands for every loss, as `others` take."""
    if losses is None or isinstance(loss, losses):
        return
    if name == "perceptron":
        raise InvalidParameter(
            f'solver="perceptron" counts errors and is judged by the hinge loss; got loss={loss!r}.'
            ' Use loss="hinge", or another solver.'
        )
    raise InvalidParameter(
        f'solver="{name}" has no loss={loss!r}; use solver={listed(others)}, which take every loss.'
    )


def check_is_hinge(name: str, loss: Any) -> None:
    """Refuse to start a solver of the hinge loss with another one."""
    if not isinstance(loss, Hinge):
        raise InvalidParameter(
            f'solver="{name}" is for loss="hinge"; got loss={loss!r}. Use solver="auto", which '
            "suits every loss."
        )


def check_solver_and_weights(
    name: str, takes_weights: bool, has_weights: bool, instead: str = "decomposition"
) -> None:
    """Refuse sample weights and class weights where a solver has none."""
    if has_weights and not takes_weights:
        raise InvalidParameter(
            f"{name} has no sample weights or class weights; use "
            f'solver="{instead}", or leave the weights out.'
        )


def check_rows_are_dense(name: str, rows: Any) -> None:
    """Refuse compressed rows where a solver reads columns."""
    if isinstance(rows, CsrRows):
        raise InvalidParameter(
            f'solver="{name}" samples features and needs dense rows; got a sparse matrix. Use '
            'X.toarray(), or solver="sdca".'
        )


def check_variant_and_loss(variant: str, loss: Any) -> None:
    """Refuse the variant of SGD that is for the hinge loss with another one."""
    if variant == "m" and not isinstance(loss, Hinge):
        raise InvalidParameter(
            f'SGD(variant="m") counts margin errors of the hinge loss; got loss={loss!r}. Use '
            'variant="s", or loss="hinge".'
        )


def check_candidates_and_output(candidates: int, output: str) -> None:
    """Refuse candidates where nothing is drawn at random."""
    if candidates > 1 and output != "random":
        raise InvalidParameter(
            f'candidates={candidates!r} are iterates drawn at random; use output="random" with '
            f"them, not {output!r}."
        )


def check_shrinking_and_sampling(shrinking: bool, sampling: str) -> None:
    """Refuse to leave rows out of independent draws."""
    if shrinking and sampling == "iid":
        raise InvalidParameter(
            'sampling="iid" draws from all rows and leaves none out; use '
            'SDCA(sampling="iid", shrinking=False).'
        )


def check_schedule_and_options(schedule: str, given: list[str]) -> None:
    """Refuse options of one schedule with another."""
    known = {"norma": ["p"], "constant": ["eta"], "ball": ["eta", "radius"]}[schedule]
    for name in given:
        if name not in known:
            raise InvalidParameter(
                f'schedule="{schedule}" has no {name}; it has {listed(known, " and ")}. Leave '
                f"{name} out, or choose the schedule that has it."
            )


def check_slack_and_models(nu: float | None, models: int) -> None:
    """Refuse one slack for several models."""
    if nu is not None and models > 1:
        raise InvalidParameter(
            f"nu={nu!r} is the slack of one model, and there are {models}. Leave it out to have "
            "one found for each from C."
        )


# ---- biases


def check_bias(bias: Any, biases: tuple[str, ...]) -> None:
    """Refuse an unknown way of finding the bias."""
    if bias not in biases:
        raise InvalidParameter(f"bias must be one of {listed(biases, ', ')}; got {bias!r}.")


def check_kernel_and_bias(bias: Any) -> None:
    """Refuse a bias that kernel models do not have."""
    if bias not in KERNEL_BIASES:
        raise InvalidParameter(
            f'bias must be "free" or "none" with a kernel; got bias={bias!r}. A penalised bias is '
            "a constant added to the kernel."
        )


def check_bias_and_loss(bias: str, loss: Any) -> None:
    """Refuse a bias by medians for losses that have none."""
    if bias == "free-batch" and not isinstance(loss, PIECEWISE_LINEAR):
        raise InvalidParameter(
            'bias="free-batch" is a weighted median, which only the hinge and epsilon-insensitive '
            f'losses have; got loss={loss!r}. Use bias="free".'
        )


def check_bias_and_batch_size(bias: str, batch_size: int) -> None:
    """Refuse a bias by medians of single rows."""
    if bias == "free-batch" and batch_size < 2:
        raise InvalidParameter(
            'bias="free-batch" finds the bias on each mini-batch and needs batch_size >= 2; '
            f"got batch_size={batch_size}. Use solver=Pegasos(batch_size=...), or "
            'bias="free".'
        )


# ---- losses


def check_loss_and_epsilon(epsilon: float, default: float) -> None:
    """Refuse an epsilon beside a loss that is given as an object."""
    if epsilon != default:
        raise InvalidParameter(
            f"epsilon={epsilon!r} has no effect on a loss given as an object; leave it out."
        )


def no_such_loss(loss: Any, names: Iterable[str], for_others: str) -> InvalidParameter:
    """Return the refusal of a loss that an estimator does not have; it may be `for_others`."""
    return InvalidParameter(
        f"loss must be {listed(names, ', ')} or a CustomLoss; got {loss!r}."
        + (f" That loss is for {for_others}." if for_others else "")
    )


# ---- streams


def check_stream_and_solver(
    solver: Any, table: Mapping[str, Any], steps: type, options: tuple[str, ...] | None = None
) -> None:
    """Refuse a solver that takes no rows as they come, and options that a stream has no use for.

    `steps` is the one that does; only some of its `options` may be set, None is for all.
    """
    name = next(name for name, entry in table.items() if entry.solver is steps)
    if not isinstance(solver, steps) and not (isinstance(solver, str) and solver in ("auto", name)):
        raise InvalidParameter(
            f"partial_fit takes {steps.__name__} steps; got solver={solver!r}. Use "
            f'"auto" or "{name}".'
        )
    if isinstance(solver, str) or options is None:
        return
    given, default = solver.get_params(), steps().get_params()  # type: ignore[attr-defined]
    is_last = given.get("output") in ("tail", "last")  # of a stream there is no tail
    if not is_last or any(given[name] != default[name] for name in given if name not in options):
        raise InvalidParameter(
            f"partial_fit takes rows as they come and hands out the last weights; {solver!r} asks "
            "for something else. Only batch_size may be set."
        )


def check_stream_and_bias(bias: Any) -> None:
    """Refuse a bias that cannot be found row by row."""
    if bias not in STREAM_BIASES:
        raise InvalidParameter(
            f'partial_fit has no bias={bias!r}, which needs all rows; use "free", "regularized" or '
            '"none".'
        )


def check_stream_and_loss(loss: Any, losses: tuple[type, ...] | None) -> None:
    """Refuse a loss that the stream of a kernel classifier does not have."""
    if losses is not None and not isinstance(loss, losses):
        raise InvalidParameter(f'partial_fit needs loss="hinge"; got loss={loss!r}.')


def check_stream_and_kernel(kernel: Any) -> None:
    """Refuse a stream of kernel values."""
    if isinstance(kernel, str) and kernel == "precomputed":
        raise InvalidParameter(
            'partial_fit cannot use kernel="precomputed": a stream has no matrix of all its rows.'
        )


def check_stream_and_class_weight(class_weight: Any) -> None:
    """Refuse class weights that only all rows tell."""
    if isinstance(class_weight, str):
        raise InvalidParameter(
            'class_weight="balanced" needs all rows; give partial_fit a dict of class weights.'
        )


def check_stream_and_labels(kind: str) -> None:
    """Refuse a stream of rows with several labels each."""
    if kind == "multilabel":
        raise InvalidParameter("partial_fit has no multilabel form; use fit.")


def check_same_kernel(kernel: Any, wanted: Any, given: Mapping[str, Any]) -> None:
    """Refuse a kernel that changed since a stream began: its support vectors do not fit it.

    `given` are the parameters that `wanted` was made from.
    """
    if type(wanted) is not type(kernel) or wanted != kernel:
        raise InvalidParameter(
            f"partial_fit goes on with the kernel of the first call, {kernel!r}; now "
            + ", ".join(f"{name}={value!r}" for name, value in given.items())
            + ". Set them back, or train a clone of this estimator for another kernel."
        )


# ---- several classes


def check_labels_and_class_weight(class_weight: Any) -> None:
    """Refuse class weights where rows have several classes."""
    if class_weight is not None:
        raise InvalidParameter(
            "class_weight does not apply to multilabel y, whose rows have several classes; use "
            "sample_weight instead."
        )


def check_multiclass_and_shape(multiclass: str, shape: str) -> None:
    """Refuse decision values of pairs of classes where none are to be trained."""
    if multiclass == "ovr" and shape == "ovo":
        raise InvalidParameter(
            'decision_function_shape="ovo" has a column per pair of classes, which '
            'multiclass="ovr" does not train; use multiclass="ovo".'
        )


def check_record_and_pairs(record: Any) -> None:
    """Refuse records of pairs of classes, which are fits of their own each."""
    if record is not None:
        raise InvalidParameter(
            "record follows one fit, and pairs of classes are trained one by one; use "
            'multiclass="ovr", or two classes.'
        )


def check_models_and_shape(kind: str, shape: str) -> None:
    """Refuse decision values of pairs of classes where none were trained."""
    if shape == "ovo" and kind == "multiclass":
        raise InvalidParameter(
            'decision_function_shape="ovo" has a column per pair of classes, but the models '
            'are of one class against the rest each; fit with multiclass="ovo".'
        )


def check_cost_and_multiclass(multiclass: str) -> None:
    """Refuse costs of pairs of classes where each class is trained against all others."""
    if multiclass == "ovr":
        raise InvalidParameter(
            'cost is of a joint model; multiclass="ovr" trains one model per class, which knows no '
            'other. Use multiclass="joint".'
        )


def check_cost_and_labels(kind: str, n_classes: int, size: int) -> None:
    """Refuse costs for labels that are not one of three or more classes."""
    if kind == "multilabel":
        raise InvalidParameter("cost does not apply to multilabel y: its labels are independent.")
    if kind == "binary":
        raise InvalidParameter(
            "cost is for three or more classes. For two, give rows weights instead: "
            "class_weight={label: what an error on it costs}."
        )
    if size != n_classes:
        raise InvalidParameter(
            f"cost must be of shape (n_classes, n_classes), in the order of classes_: {n_classes} "
            f"classes; got a cost of shape ({size}, {size})."
        )


def check_joint_and_loss(loss: Any, has_cost: bool) -> None:
    """Refuse a loss that has no joint form, or none with costs."""
    if has_cost and not isinstance(loss, Hinge):
        raise InvalidParameter(f'cost needs loss="hinge"; got loss={loss!r}.')
    if not isinstance(loss, Hinge | Logistic):
        raise InvalidParameter(
            f'multiclass="joint" has loss="hinge" and loss="logistic"; got loss={loss!r}. Use '
            'multiclass="ovr" for one model per class.'
        )


def check_joint_and_solver(name: str, bias: str, is_able: bool) -> None:
    """Refuse a solver, or its way of finding the bias, that has no joint steps."""
    if not is_able:
        raise InvalidParameter(
            f'solver="{name}" with bias="{bias}" trains no joint model of several classes; use '
            'solver="auto" and bias="free", "regularized" or "none", or multiclass="ovr".'
        )


def check_joint_and_labels(multiclass: str, kind: str) -> None:
    """Refuse to train labels jointly that a row may have several of."""
    if multiclass == "joint" and kind == "multilabel":
        raise InvalidParameter(
            'multiclass="joint" is for rows of one class each; labels of multilabel y are '
            'independent. Use multiclass="auto".'
        )


# ---- names


def check_name_has_options(owner: str, value: Any, option: str) -> None:
    """Refuse `solver__option` where the solver (loss, kernel) is a name, which has no options."""
    if isinstance(value, str):
        advice = (
            "kernels have no options of their own: set gamma, degree or coef0"
            if owner == "kernel"
            else f"give an object with options as {owner} before setting {option}"
        )
        raise InvalidParameter(f"{owner}={value!r} is a name without options; {advice}.")
