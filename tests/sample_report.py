"""A realistic report: three questions, several submissions, a real and a simulated device, every kind of outcome."""

import dataclasses
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from proctorch.bank.question import (
    Card,
    Check,
    EntryPoint,
    FollowUp,
    Limits,
    Mistake,
    Need,
    Parameter,
    Question,
    QuestionType,
    Rubric,
)
from proctorch.judge.grade import (
    CheckResult,
    CopyCount,
    Flag,
    FlagKind,
    Grade,
    MemoryRun,
    Moment,
    Outcome,
    Output,
    Place,
    Verdict,
)
from proctorch.report.report import DeviceInfo, Environment, Report

CREATED = datetime(2026, 11, 30, 9, 41, 7, tzinfo=UTC)

ENVIRONMENT = Environment(
    torch="2.13.0+cpu",
    python="3.11.2",
    platform="Linux-6.1.0-x86_64-with-glibc2.36",
    devices=(
        DeviceInfo("cpu", "2 cores, x86_64", real=True),
        DeviceInfo("virtual", "a simulated CUDA device; its memory is the CPU's", real=False),
    ),
    sandbox="full",
    limits=("10 s per scenario", "2 GiB of memory", "4 MiB of output", "no network", "no files outside its own folder"),
    bank="questions",
    bank_digest="sha256:6f1c0b7d2a934e58",
    seed=1729,
)

HALF_MOVED_STEP = Question(
    id="half-moved-step",
    topic="mismatch-fix",
    path=Path("questions/mismatch-fix/half-moved-step.yaml"),
    code="MF1",
    title="The half-moved training step",
    type=QuestionType.CODE_FIX,
    difficulty=1,
    minutes=8,
    tags=("devices", "training"),
    device=Need.SECOND,
    prompt="""\
An image classifier trains on the CPU. On a GPU its step stops with

```text
RuntimeError: Expected all tensors to be on the same device
```

Repair `train_step` so that **one code path** works on every device. The model has been moved already.

- Each batch may cross to the device once: images and labels, two copies.
- Return the loss as a Python `float`.

```python
def train_step(model, optimizer, batch, device):
    images, labels = batch
    images.to(device)  # something is missing here
    ...
```

| batch | shape | dtype |
|---|---|---|
| images | `(N, 3, 32, 32)` | `float32` |
| labels | `(N,)` | `int64` |
""",
    starter="def train_step(model, optimizer, batch, device):\n    ...\n",
    self_check="",
    entry=(
        EntryPoint("train_step", (Parameter("model"), Parameter("optimizer"), Parameter("batch"), Parameter("device"))),
    ),
    limits=Limits(),
    budget=None,
    checks=(
        Check(
            "test_step_runs", "the step runs where the model is", Fraction(2), ("What does `.to` return for a tensor?",)
        ),
        Check(
            "test_two_copies",
            "each batch crosses to the device once: two copies, none back but the loss",
            Fraction(3, 2),
            (
                "Count the copies: images, labels, and then?",
                "A model that lives on the device need not be moved again in every step.",
            ),
            needs="test_step_runs",
            only=("cuda",),
        ),
        Check("test_loss_is_right", "the loss equals the one computed on the CPU", Fraction(3, 2)),
        Check(
            "test_returns_float",
            "the loss comes back as a Python `float`",
            Fraction(1),
            ("`.item()` reads one number.",),
        ),
        Check("test_second_epoch", "a second epoch over the same loader works", Fraction(1), needs="test_step_runs"),
    ),
    card=Card(
        question="The error says that tensors are on two devices. What do you check first?",
        in_depth=(
            "Model, inputs, targets, and then the hidden state: loss weights, buffers, optimizer state.",
            "`Tensor.to` returns a new tensor; `Module.to` moves the module in place and returns it.",
            "Apart from 0-dim CPU operands and CPU indices, nothing is moved for you.",
        ),
        scenario="An image classifier is trained on one GPU. It was written on a laptop, and stops at the first batch.",
        mistakes=(
            Mistake(
                "`images.to(device)` without keeping the result",
                "`.to` on a tensor is not in place: the old name still means the CPU tensor.",
                "test_step_runs",
            ),
            Mistake(
                "moving the model in every step",
                "It costs a walk over all parameters, and hides where state lives.",
                "test_two_copies",
            ),
            Mistake("adding `.cuda()` until it runs", "The code no longer runs on a machine without CUDA."),
        ),
        follow_ups=(
            FollowUp(
                "Why does `model.to(device)` need no assignment?",
                "It replaces each parameter's data inside the module itself.",
            ),
            FollowUp(
                "What would `non_blocking=True` change?",
                "From pinned memory the copy overlaps with computing; the result must be waited for.",
            ),
        ),
        related=("`.to`", "same-device rule", "pinned memory", "autograd and devices"),
        rubric=Rubric(
            strong="Reads which argument the message names, checks all four places, says what moves with a module.",
            passing="Moves both images and labels, and keeps the results.",
            weak="Adds `.cuda()` until it runs.",
            probes=("What moves when a module moves?", "Where does autograd put gradients?"),
        ),
    ),
    sources=("pytorch/pytorch#56379",),
)

PICK_DEVICE = Question(
    id="pick-device",
    topic="device-check",
    path=Path("questions/device-check/pick-device.yaml"),
    code="DC1",
    title="Choose a device without ever crashing",
    type=QuestionType.IMPLEMENT,
    difficulty=1,
    minutes=8,
    tags=("devices",),
    device=Need.ANY,
    prompt="Write `pick_device(prefer=None)`: the preferred device if it works, else an accelerator, else the CPU.\n",
    starter="def pick_device(prefer=None):\n    ...\n",
    self_check="",
    entry=(EntryPoint("pick_device", (Parameter("prefer", "None"),)),),
    limits=Limits(),
    budget=None,
    checks=(
        Check("test_no_accelerator", "without an accelerator it is the CPU, and nothing is raised", Fraction(1)),
        Check(
            "test_refuses_index",
            "an index beyond the last device is refused",
            Fraction(1),
            ("How many devices are there?",),
        ),
        Check("test_returns_device", "what comes back is a `torch.device`", Fraction(1)),
    ),
    card=Card(
        question="How do you find out what you can run on?",
        in_depth=("Built with support, and available now, are two questions.",),
        scenario="The same script on a laptop, in CI and on a GPU node.",
        mistakes=(Mistake("trusting that CUDA is compiled in", "A driver may be missing.", "test_no_accelerator"),),
        follow_ups=(FollowUp("And with several GPUs?", "The current one, unless an index is given."),),
        related=("`torch.accelerator`", "`torch.device`"),
        rubric=Rubric("availability, support and index", "a working chain", "`.cuda()` in try/except"),
    ),
    sources=(),
)

FIT_THE_BATCH = Question(
    id="fit-the-batch",
    topic="oom-handling",
    path=Path("questions/oom-handling/fit-the-batch.yaml"),
    code="OOM1",
    title="Will this batch fit?",
    type=QuestionType.IMPLEMENT,
    difficulty=2,
    minutes=12,
    tags=("memory",),
    device=Need.BUDGET,
    prompt="Write `largest_batch(step, sizes)`: the largest size whose step fits into the device's memory.\n",
    starter="def largest_batch(step, sizes):\n    ...\n",
    self_check="",
    entry=(EntryPoint("largest_batch", (Parameter("step"), Parameter("sizes"))),),
    limits=Limits(),
    budget=64 << 20,
    checks=(Check("test_largest", "the largest size that fits", Fraction(4)),),
    card=Card(
        question="How do you know before you run out?",
        in_depth=("Peak, not live, memory decides.",),
        scenario="A batch size that worked yesterday.",
        mistakes=(),
        follow_ups=(),
        related=(),
        rubric=Rubric("peak against live", "tries and halves", "guesses"),
    ),
    sources=(),
)

QUESTIONS = (HALF_MOVED_STEP, PICK_DEVICE, FIT_THE_BATCH)

HALF_MOVED_SOURCE = '''\
"""One training step of the image classifier."""

import torch
from torch import nn

WEIGHT = 0.5  # of the auxiliary loss


def train_step(model, optimizer, batch, device):
    """Move the batch, take one step, return the loss."""
    images, labels = batch
    images = images.to(device)
    labels.to(device)

    optimizer.zero_grad(set_to_none=True)
    logits = model.to(device)(images)
    loss = nn.functional.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    print(f"loss {loss:.4f} on {device}")
    return loss
'''

MOVED_SOURCE = """\
from torch.nn.functional import cross_entropy


def train_step(model, optimizer, batch, device):
    images, labels = (part.to(device, non_blocking=True) for part in batch)
    optimizer.zero_grad()
    loss = cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()
"""

PICK_SOURCE = """\
import torch


def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(prefer)
    free, total = torch.accelerator.get_memory_info()
    return torch.device("cuda" if free > 0 else "cpu")
"""

WRONG_LOSS = """\
the loss differs
AssertionError: Scalars are not close!

Expected 2.302585092994046 but got 2.1972246170043945.
Absolute difference: 0.10536047598965135 (up to 1e-05 allowed)

graders/mismatch-fix/half-moved-step/test_half_moved_step.py:41: in test_loss_is_right
    close(loss, reference(seed), "the loss")
"""


def _result(question: Question, n: int, outcome: Outcome, reason: str = "", **more: object) -> CheckResult:
    check = question.checks[n]
    return CheckResult(check.test, check.title, check.points, outcome, reason=reason, **more)  # type: ignore[arg-type]


def _passed(question: Question) -> tuple[CheckResult, ...]:
    return tuple(_result(question, n, Outcome.PASSED) for n in range(len(question.checks)))


def _half_moved_on_cpu() -> Grade:
    question = HALF_MOVED_STEP
    return Grade(
        question=question.id,
        submission="answers/half_moved_step.py",
        device="cpu",
        real=True,
        verdict=Verdict.PARTIAL,
        reason="3 of 4 checks passed",
        checks=(
            _result(question, 0, Outcome.PASSED),
            _result(
                question,
                1,
                Outcome.NOT_RUN,
                "is only made on cuda: between the CPU and itself nothing crosses",
                counted=False,
            ),
            _result(question, 2, Outcome.PASSED),
            _result(
                question,
                3,
                Outcome.FAILED,
                "the loss is a Tensor, not a Python float",
                place=Place(21, "train_step"),
                detail="the loss is a Tensor, not a Python float\n"
                "assert isinstance(seen.get('loss'), float)\n"
                "E   got tensor(2.3026, grad_fn=<NllLossBackward0>)\n",
            ),
            _result(question, 4, Outcome.PASSED),
        ),
        source=HALF_MOVED_SOURCE,
        stdout=Output("loss 2.3026 on cpu\nloss 2.2871 on cpu\n"),
        seconds=0.318,
    )


def _half_moved_on_virtual() -> Grade:
    question = HALF_MOVED_STEP
    mismatch = "Expected all tensors to be on the same device, but found cuda:0 and cpu"
    return Grade(
        question=question.id,
        submission="answers/half_moved_step.py",
        device="virtual",
        memory=MemoryRun(
            64 << 20, (Moment(0.001, 24 << 20), Moment(0.002, 48 << 20), Moment(0.003, 48 << 20, 32 << 20))
        ),
        copies=(CopyCount("cpu", "cuda:0", 12, 2, 602_112), CopyCount("cuda:0", "cpu", None, 1, 4)),
        real=False,
        verdict=Verdict.RUNTIME_ERROR,
        reason=f"RuntimeError: {mismatch}",
        checks=(
            _result(
                question,
                0,
                Outcome.FAILED,
                f"RuntimeError in `train_step`: {mismatch}",
                place=Place(17, "train_step"),
                detail=f"RuntimeError: {mismatch}\n  answers/half_moved_step.py:17 in train_step\n",
            ),
            _result(question, 1, Outcome.NOT_RUN, "not run, since “the step runs where the model is” did not pass"),
            _result(question, 2, Outcome.FAILED, "the loss differs", place=Place(17, "train_step"), detail=WRONG_LOSS),
            _result(
                question,
                3,
                Outcome.FAILED,
                "the loss is a Tensor, not a Python float",
                place=Place(21, "train_step"),
                detail="the loss is a Tensor, not a Python float\n",
            ),
            _result(question, 4, Outcome.NOT_RUN, "not run, since “the step runs where the model is” did not pass"),
        ),
        source=HALF_MOVED_SOURCE,
        stderr=Output(
            "Traceback (most recent call last):\n"
            '  File "half_moved_step.py", line 17, in train_step\n'
            "    loss = nn.functional.cross_entropy(logits, labels)\n"
            f"RuntimeError: {mismatch}\n",
            cut=18_432,
        ),
        seconds=0.274,
    )


def _moved(device: str, *, real: bool) -> Grade:
    return Grade(
        question=HALF_MOVED_STEP.id,
        submission="answers/ada lovelace/moved.py",
        device=device,
        real=real,
        verdict=Verdict.ACCEPTED,
        reason="",
        checks=_passed(HALF_MOVED_STEP),
        source=MOVED_SOURCE,
        seconds=0.291,
    )


def _picked() -> Grade:
    question = PICK_DEVICE
    return Grade(
        question=question.id,
        submission="answers/pick_device.py",
        device="cpu",
        real=True,
        verdict=Verdict.WRONG_ANSWER,
        reason="none of 3 checks passed",
        checks=(
            _result(
                question,
                0,
                Outcome.FAILED,
                "RuntimeError: Allocator for cpu is not a DeviceAllocator.",
                place=Place(7, "pick_device"),
            ),
            _result(
                question,
                1,
                Outcome.FAILED,
                "`cuda:7` was accepted on a machine without it",
                place=Place(6, "pick_device", "cell 4, line 2"),
            ),
            _result(
                question,
                2,
                Outcome.FAILED,
                "RuntimeError: Allocator for cpu is not a DeviceAllocator.",
                place=Place(7, "pick_device"),
            ),
        ),
        source=PICK_SOURCE,
        notes=("cell 2: `!pip install <torch>` skipped",),
        seconds=0.08,
    )


def _judge_broke() -> Grade:
    question = PICK_DEVICE
    return Grade(
        question=question.id,
        submission="answers/grace.py",
        device="cpu",
        real=True,
        verdict=Verdict.JUDGE_ERROR,
        reason="the sandbox could not be started: no memory left",
        checks=tuple(
            _result(question, n, Outcome.ERROR, "the check could not be made; this is not the candidate's fault")
            for n in range(3)
        ),
        source="import torch\n\ntorch.cuda.is_available = lambda: False\n\n\n"
        "def pick_device(prefer=None):\n    return torch.device(prefer or 'cpu')\n",
        seconds=0.0,
        flags=(
            Flag(
                FlagKind.PATCH,
                3,
                "torch.cuda.is_available = lambda: False",
                "assigns into `torch.cuda.is_available`",
            ),
        ),
    )


def _not_asked() -> Grade:
    question = FIT_THE_BATCH
    reason = "needs a device whose memory can be limited; this machine has none"
    return Grade(
        question=question.id,
        submission="answers/fit.py",
        device="cpu",
        real=True,
        verdict=Verdict.NOT_RUN,
        reason=reason,
        checks=(_result(question, 0, Outcome.NOT_RUN, reason, counted=False),),
        source="def largest_batch(step, sizes):\n    return max(sizes)\n",
        seconds=0.0,
    )


GRADES = (
    _half_moved_on_cpu(),
    _half_moved_on_virtual(),
    _moved("cpu", real=True),
    _moved("virtual", real=False),
    _picked(),
    _judge_broke(),
    _not_asked(),
)


def sample_report() -> Report:
    """The report of all of `GRADES`, made at `CREATED` in `ENVIRONMENT`."""
    report = Report.collect(GRADES, questions=QUESTIONS, environment=ENVIRONMENT, created=CREATED)
    return dataclasses.replace(report, proctorch="0.1.0")


def small_report(**changes: object) -> Report:
    """One job, whose grade is the accepted one of the sample, with `changes` made to its fields."""
    grade = dataclasses.replace(_moved("cpu", real=True), **changes)  # type: ignore[arg-type]
    report = Report.collect([grade], questions=QUESTIONS, environment=ENVIRONMENT, created=CREATED)
    return dataclasses.replace(report, proctorch="0.1.0")
