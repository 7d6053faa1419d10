"""The datasets by name; each module has NAME and load()."""

from bench.kernel.datasets import a9a, mnist8, money_fx, usps8
from bench.kernel.datasets.base import KernelDataset

DATASETS = {module.NAME: module for module in (usps8, money_fx, a9a, mnist8)}

__all__ = ["DATASETS", "KernelDataset"]
