"""Kernel SVM, side by side with the peers: objective, datasets and solvers, each in a small file.

Every competitor is given the same problem, with a Gaussian kernel K and a bias that is not
penalised, as libsvm has it:

    P(f, b) = lam/2 ||f||_K^2 + 1/n sum_i max(0, 1 - y_i (f(x_i) + b)),        C = 1/(lam n)

and is asked how many seconds it needs until the *true* relative suboptimality (P - P*)/P* is below
1e-2, 1e-3 and 1e-4. Nobody grades themselves: P is recomputed here, in float64, from the support
vectors, coefficients and bias that a solver returns, and P* is bracketed by a dual point whose
value is computed here too. Everybody may use both cores.

    python -m bench.kernel                         everything; writes docs/benchmarks/kernel.md
    python -m bench.kernel --only usps8 money-fx   some datasets; replaces their part of the page
    python -m bench.kernel --solvers libsvm        some solvers; prints only
    python -m bench.kernel --tables 2 --slow       only Table 2 of [SSSC11], MNIST included

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011.
"""
