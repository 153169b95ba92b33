"""Running a grader by hand: `pytest graders/<topic>/<id>/test_<id>.py --submission FILE --device cpu`.

This is what pytest loads of Proctorch in every project where it is installed: without `--submission` it does nothing.
"""

import contextlib
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("proctorch", "run a Proctorch grader on one submission")
    group.addoption("--submission", metavar="FILE", help="the candidate's file")
    group.addoption("--seed", dest="proctorch_seed", type=int, default=None, help="repeat a run's hidden inputs")
    with contextlib.suppress(ValueError):  # another plugin may have taken the name; its users do not run graders
        group.addoption("--device", dest="proctorch_device", default="cpu", help="the device to run it on")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--submission", default=None)
    if not file:
        return
    from proctorch.errors import ProctorchError  # noqa: PLC0415 - other people's test runs must not pay for these

    try:
        _load_judge(config, file)
    except ProctorchError as error:
        raise pytest.UsageError(str(error)) from None


def _load_judge(config: pytest.Config, file: str) -> None:
    import secrets  # noqa: PLC0415 - as above

    from proctorch.bank.bank import Bank  # noqa: PLC0415
    from proctorch.devices import choose, cuda_nodes  # noqa: PLC0415
    from proctorch.judge import plugin  # noqa: PLC0415
    from proctorch.judge.plan import Job  # noqa: PLC0415
    from proctorch.judge.play import Play  # noqa: PLC0415
    from proctorch.judge.sandbox import Sandbox  # noqa: PLC0415
    from proctorch.judge.submission import Submission  # noqa: PLC0415

    submission = Submission(file)
    device = choose((config.getoption("proctorch_device", default="cpu"),))[0]
    seed = config.getoption("proctorch_seed")
    secret = secrets.randbits(53) if seed is None else seed
    sandbox = Sandbox(virtual=device.type == "virtual", devices=cuda_nodes() if device.type == "cuda" else ())
    config.add_cleanup(sandbox.close)
    plays: dict[Path, list[Play]] = {}
    banks: dict[Path, Bank] = {}

    def plays_for(tests: Path) -> list[Play]:
        """One play for a grader's file: `BANK/graders/<topic>/<id>/test_<id>.py`."""
        path = tests.resolve()
        if len(path.parents) < 4 or path.parents[2].name != "graders":
            return []
        if path not in plays:
            root = path.parents[3]
            bank = banks.get(root) or banks.setdefault(root, Bank.load(root))
            question = bank.find(f"{path.parents[1].name}/{path.parents[0].name}")
            plays[path] = [Play(Job(question, submission, device), lambda: sandbox, secret)]
        return plays[path]

    config.pluginmanager.register(plugin, "proctorch-fixtures")
    config.pluginmanager.register(plugin.Judge(plays_for, Play.close), "proctorch-judge")
