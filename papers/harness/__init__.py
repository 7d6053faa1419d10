"""What all experiments share.

data         the sets by name; those that stand in for another say so in their name
optimum      the interval that holds P*, by certificate, kept in .cache
course       a solver step by step: the current iterate, its steps, CPU seconds, kernel values
judge        objective and test error of an iterate, recomputed from the data
report       what an experiment found: tables, figures, a verdict per claim
plots        figures in the papers' axes
page         docs/papers/<paper>/index.md, a block per experiment
run          experiments, one or all of them, with progress
"""
