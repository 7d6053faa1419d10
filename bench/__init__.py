"""Side by side with the peers: objective, datasets and solvers, each in a small file.

Every competitor is given the same problem, the one that all of them can solve:

    P(w) = lam/2 ||w||^2 + 1/n sum_i max(0, 1 - y_i <w, x_i>),        no bias, float64 judge

and is asked how many seconds it needs until the *true* relative suboptimality (P - P*)/P* is below
1e-2, 1e-3 and 1e-4, where P* is certified by a duality gap. Nobody grades themselves: P is
recomputed here from the weights that a solver returns.

    python -m bench                       everything; writes docs/benchmarks/linear.md
    python -m bench --quick               two small sets, a few seconds per solver; prints only
    python -m bench --only a9a,linearsvc  some datasets or solvers by name; prints only
    python -m bench --readme              copies the summaries of all last runs into README.md

With a bias, other losses and all cores: `bench.ordinary`, `bench.sweep`, `bench.scale`. With
kernels: `bench.kernel`. Each is a command of its own, with a page under docs/benchmarks.
"""
