"""What `solve` does with an offer, without asking which of its evaluations are worth keeping."""


def assess(judge, offer, tries_slopes=False):
    """Certify an offer and keep what is better."""
    for evaluation in judge.evaluations(offer, tries_slopes, 0.0):
        judge.keep_better(evaluation)
