"""The datasets by name; each module has NAME, LAMS and load(lam)."""

from bench.datasets import a9a, cov1, mnist8, news20, reuters, textlike

DATASETS = {module.NAME: module for module in (a9a, cov1, mnist8, news20, reuters, textlike)}

__all__ = ["DATASETS"]
