"""SMO on many small problems at once: every one of them as if it were alone."""

import numpy as np
import pytest

from pegasos.problem.losses import Hinge, SquaredHinge
from pegasos.problem.objective import Costs, OwnWeights, Problem, make_problem
from pegasos.solvers.decomposition.box import box_of
from pegasos.solvers.decomposition.smo import ascend_pairs, ascend_singles, new_ascent, whole
from pegasos.solvers.decomposition.stack import ascend, dual_point, new_ascents
from tests.kernel_matrix.test_stack import small_pairs


@pytest.mark.fast
@pytest.mark.parametrize("is_free", [True, False])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_every_problem_is_solved_as_if_it_were_alone(loss, is_free):
    _, members, small = small_pairs()
    ((pairs, stack),) = small.stacks()
    s = np.random.default_rng(2).uniform(0.5, 2.0, stack.diagonal.shape) * (stack.diagonal > 0.0)
    Y = np.ones_like(s)
    for k, (a, _) in enumerate(pairs):
        Y[len(members[a]) :, k] = -1.0
    problem = Problem(Costs(loss, Y, OwnWeights(s)), stack, 10.0, 0.05, 0.0, is_free)
    ascents = new_ascents(problem)
    which = np.array([0, 2, 3, 7])
    ascend(problem, ascents, which, 1e-9)
    A, scale, _ = dual_point(problem, ascents)
    for k in range(len(pairs)):
        n = np.count_nonzero(s[:, k])
        one = make_problem(loss, stack, Y[:n, [k]].copy(), s[:n, k].copy(), 0.05, "none")
        one = one._replace(S=10.0)
        K, box = stack.values[k, :n, :n].copy(), box_of(one, 0)
        alone = new_ascent(np.zeros(n), Y[:n, k].copy(), box)
        if k in which:
            work = ascend_pairs if is_free else ascend_singles
            work(whole(K, stack.diagonal[:n, k].copy()), alone, box, np.arange(n), 1e-9, 10**6)
        np.testing.assert_allclose(ascents.ascent.beta[k, :n], alone.beta, atol=1e-12)
        np.testing.assert_allclose(
            scale * A[:n, k] * s[:n, k] / 0.5, alone.beta, atol=1e-12
        )  # beta_i = s_i a_i / (lam S)
        assert not ascents.ascent.beta[k, n:].any()
