"""What all benchmarks share; each of them is a few small files on top of it.

competitor   what an adapter is: problems it takes, a ladder of efforts, `prepare` and `run`
problem      what a problem is: data, a penalty, and `judge`, which recomputes the objective
measure      competitors side by side on a problem: seconds to a *true* suboptimality
ladder       how they climb their ladders in turns; best of repeats
limited      a fit in a process of its own, ended when its time is up
fits         single fits with given settings, timed
memory       what only a fresh process can tell: the first call, peak extra memory
optimum      the interval that holds P*, remembered
files        data sets from PEGASOS_DATA, and the cache of what was parsed
results      what was measured, kept as JSON after every part
page         Markdown
command      the command line: --only, --limit, --repeats; what ran where
"""
