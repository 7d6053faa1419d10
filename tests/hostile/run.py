"""Run the hostile suite: `python -m tests.hostile.run --fits 3000 --first 0 --jobs 2`.

Prints what became of every kind of fit, and each false claim with the integer that makes it again:
`python -m tests.hostile.run --fits 1 --first SEED`.
"""

import argparse
import collections
import faulthandler
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.hostile.generator import draw
from tests.hostile.named import LARGE, NAMED, forty
from tests.hostile.verdict import Verdict, judge

HANG = 1200  # seconds after which a fit is called hung: its stack is printed, the run ends


def kinds(case):
    """The lines of the table that a case counts in."""
    kernel = case.option("kernel", "rbf") if case.has_kernel else "no kernel"
    solver = case.option("solver", "auto")
    kind = case.X.dtype.name + (" CSR" if hasattr(case.X, "indptr") else " dense")
    return [
        case.estimator,
        f"solver {solver if isinstance(solver, str) else type(solver).__name__}",
        f"loss {case.loss}" + (" (custom)" if case.loss_name else ""),
        f"kernel {kernel if isinstance(kernel, str) else kernel.__name__}",
        f"bias {case.option('bias', 'free')}",
        f"data {kind}",
    ]


def outcome_of(job):
    """Make a case and judge it; what goes wrong on the way is a failure of the case."""
    faulthandler.dump_traceback_later(HANG, exit=True)
    start = time.perf_counter()
    case = draw(job) if isinstance(job, int) else job()
    try:
        verdict = judge(case)
    except Exception as error:
        verdict = Verdict(case.name, failures=[f"exception: {type(error).__name__}: {error}"])
    faulthandler.cancel_dump_traceback_later()
    return kinds(case), verdict, time.perf_counter() - start


def table(results):
    """Count outcomes by kind."""
    columns = ["within tol", "above tol", "unproven", "refused", "undecided", "false"]
    counts = collections.defaultdict(collections.Counter)
    for lines, verdict, _ in results:
        for line in ["all", *lines]:
            counts[line][verdict.outcome] += 1
            counts[line]["undecided"] += verdict.is_undecided
            counts[line]["false"] += bool(verdict.failures)
            counts[line]["fits"] += 1
    print(f"{'':32}" + "".join(f"{name:>12}" for name in ["fits", *columns]))
    for line in sorted(counts, key=lambda name: (name != "all", name)):
        print(f"{line:32}" + "".join(f"{counts[line][name]:12}" for name in ["fits", *columns]))


def report(results):
    """Print the table, totals and every failure."""
    table(results)
    certain = sum(verdict.certain for _, verdict, _ in results)
    bounded = sum(verdict.bounded for _, verdict, _ in results)
    slowest = max(results, key=lambda result: result[2])
    print(f"\n{certain} certain labels and {bounded} decision bounds checked")
    print(f"slowest: {slowest[1].name}, {slowest[2]:.1f} s")
    undecided = [verdict.name for _, verdict, _ in results if verdict.is_undecided]
    print(f"undecided: {', '.join(undecided) or 'none'}")
    refusals = collections.Counter(verdict.refusal[:90] for _, verdict, _ in results)
    for refusal, count in refusals.items():
        if refusal:
            print(f"refused {count}: {refusal}")
    failed = [verdict for _, verdict, _ in results if verdict.failures]
    for verdict in failed:
        for failure in verdict.failures:
            print(f"FALSE {verdict.name}: {failure}")
    print(f"{len(results)} fits, {len(failed)} with a false claim")
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000, help="drawn cases")
    parser.add_argument("--first", type=int, default=0, help="integer of the first of them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--named", action="store_true", help="also the named cases, large ones too")
    options = parser.parse_args()
    jobs = list(range(options.first, options.first + options.fits))
    if options.named:
        jobs = [*LARGE.values(), *NAMED.values(), *forty(), *jobs]
    results = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        for done in as_completed([pool.submit(outcome_of, job) for job in jobs]):
            results.append(done.result())
            if len(results) % 250 == 0:
                print(f"{len(results)} of {len(jobs)}", file=sys.stderr, flush=True)
    sys.exit(1 if report(results) else 0)


if __name__ == "__main__":
    main()
