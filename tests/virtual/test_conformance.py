"""A sample of PyTorch's operator database; benchmarks/virtual_conformance.py runs all of it."""

import pytest
import torch

from proctorch.virtual import conformance

pytest.importorskip("expecttest", reason="torch's operator database wants it")


@pytest.mark.filterwarnings("ignore")  # the operator database's own
def test_sample() -> None:
    """Every twelfth entry of the database gives the CPU's shapes, strides, dtypes, values and gradients on the device."""
    torch.set_num_threads(1)
    chosen = conformance.entries()[::12]
    results = list(conformance.sweep(chosen, samples=3))
    assert len(results) >= 58
    assert [each for each in results if each.difference is not None and each.name not in conformance.KNOWN] == []


@pytest.mark.filterwarnings("ignore")  # as above
def test_known_differences_are_real() -> None:
    """Each entry that is said to differ does; one that has become equal must be taken off the list."""
    chosen = [entry for entry in conformance.entries() if conformance.name_of(entry) in conformance.KNOWN]
    assert {each.name for each in conformance.sweep(chosen, samples=1) if each.difference is not None} == set(conformance.KNOWN)
