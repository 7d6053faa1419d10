"""Ordinary tables, side by side: many rows and few columns, scaled or not, four losses, a bias.

Every competitor is given the same problem, one with the bias that the peers have for that loss:

    P(w, b) = lam/2 (||w||^2 + b^2) + mean loss      "regularized": liblinear's family, snapml
    P(w, b) = lam/2 ||w||^2         + mean loss      "free": LogisticRegression except liblinear's

and is asked how many seconds it needs until the *true* relative suboptimality (P - P*)/P* is below
1e-3 and 1e-5; P is recomputed here, P* lies in an interval certified by a duality gap. Ours runs
with its defaults (but for bias and tol) and counts only where its own certificate proves the
threshold. Everybody may use all cores.

    python -m bench.ordinary                        everything; writes docs/benchmarks/ordinary.md
    python -m bench.ordinary --only letter,hinge    some tables, losses or solvers by name
    python -m bench.ordinary --limit 5              seconds per fit (20)
    python -m bench.ordinary.defaults               plain constructors on raw data: defaults.md
"""
