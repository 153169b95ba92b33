"""The whole of PyTorch's operator database on the virtual device, beside the CPU: `python
benchmarks/virtual_conformance.py`.

The same as `python -m proctorch.virtual.conformance`; half a minute on one core.
"""

from proctorch.virtual import conformance

if __name__ == "__main__":
    conformance.main()
