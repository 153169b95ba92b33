"""A new question: all its files, small but whole, with a mark wherever its author has something to say.

The question that the files make is a real one, and proven: it asks for a tensor twice as large. So whatever is changed
shows at once in what `verify` says.
"""

import os
import re
from pathlib import Path

from proctorch.bank.question import Question
from proctorch.errors import Diagnostic, UsageError

#: Stands before what an author still has to do.
MARK = "TODO(author):"
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_QUESTION = '''\
schema: 1
title: "TODO(author): name the exercise, in a few words"
type: implement # TODO(author): code-fix, implement, predict or explain
difficulty: 1 # TODO(author): 1 (first week) to 5 (expert)
minutes: 10 # TODO(author): how long it takes somebody who knows it
tags: [tensors] # TODO(author): words to select it by
device: any # TODO(author): any, second (a second device beside the CPU) or budget (with `budget: 64MiB`)
prompt: |
  TODO(author): say what is given, what is asked, which tolerance and limits hold, and show an example that is true

  Write `solve(x)`. It returns a new tensor, twice as large as `x`, with the dtype of `x` and on its device.
  `x` stays as it was. `solve(torch.tensor([1.0, 2.0]))` is `tensor([2., 4.])`.
starter: |
  # TODO(author): what a candidate starts from; it runs, and does not pass
  def solve(x):
      return x
self_check: | # TODO(author): tests of what the prompt shows; a candidate gets them, so they tell nothing else
  import torch


  def test_example():
      """The result is twice as large."""
      assert solve(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
entry: {solve: [x]} # TODO(author): what a submission must define, and its parameters
checks: # TODO(author): each demand of the prompt, in words for the candidate, with points and hints
  - test: test_values
    title: the result is twice as large
    points: 2
    hint: [which operator makes a number twice as large?, it does the same to a tensor]
  - test: test_given
    title: the given tensor stays as it was
    points: 1
    needs: test_values
card:
  question: "TODO(author): the question as it is asked aloud"
  in_depth:
    - "TODO(author): what a full answer explains, one idea a line"
  scenario: "TODO(author): where this happens in practice"
  mistakes:
    - mistake: "TODO(author): what people do"
      why: "TODO(author): why it fails"
      caught_by: test_given
  follow_ups:
    - question: "TODO(author): what to ask next"
      answer: "TODO(author): a short right answer"
  related: ["TODO(author): neighbouring ideas"]
  rubric:
    strong: "TODO(author): what a strong answer has"
    pass: "TODO(author): what a passing answer has"
    weak: "TODO(author): what a weak answer sounds like"
    probes: ["TODO(author): what to say when the candidate stalls"]
sources: ["TODO(author): where the facts are from"]
'''

_SCENARIOS = '''\
"""TODO(author): what is tried. It runs in the sandbox, beside the candidate's code: no expected value is here"""


def solved(candidate, device, probe, *, x):
    """The result for `x` on the device, and what has become of the given tensor."""
    given = x.to(device)
    result = candidate.solve(given)
    return {"result": result, "given": given}
'''

_TESTS = '''\
"""TODO(author): what is demanded. It runs in the judge, which the candidate's code never sees"""

import torch

from proctorch.judge.checks import close


def numbers(seed):
    """Six numbers, none of them near 0: there, twice would look like once."""
    return torch.rand(2, 3, generator=torch.Generator().manual_seed(seed)) + 1


def test_values(run, shared_seed, device):
    """The result has every number of the given tensor twice, on its device and in its dtype."""
    x = numbers(shared_seed)
    seen = run("solved", x=x)
    result = seen.tensor("result", what="the result", device=device, dtype="float32")
    close(result, x.double() * 2, "the result")


def test_given(run, shared_seed):
    """The given tensor has the same values afterwards."""
    x = numbers(shared_seed)
    seen = run("solved", x=x)
    close(seen.tensor("given", what="the given tensor"), x.double(), "the given tensor", rtol=0.0, atol=0.0)
'''

_SOLUTIONS = {
    "accepted/multiplies.py": """\
# TODO(author): a right answer in one style; say which


def solve(x):
    return x * 2
""",
    "accepted/adds.py": """\
# TODO(author): a right answer in a really different style; say which
import torch


def solve(x):
    return torch.add(x, x)
""",
    "wrong_answer/squares.py": """\
# TODO(author): a wrong answer that a hurried engineer would write; each check is the only one to catch some such answer
# caught-by: test_values


def solve(x):
    return x**2
""",
    "partial/in_place.py": """\
# TODO(author): another one, in the folder of the verdict that it must get
# caught-by: test_given


def solve(x):
    return x.mul_(2)
""",
}


def write_skeleton(bank: Path, name: str) -> list[Path]:
    """Makes the files of the question `topic/id` in the bank's folder; their paths, in the order to go through them.

    UsageError if the name is none, if there is a question with this id, or if one of the files is there already:
    nothing is overwritten, and nothing is written then.
    """
    topic, slash, question = name.partition("/")
    for part in (topic, question) if slash else (name, ""):
        if not _SLUG.fullmatch(part):
            raise UsageError(
                f"`{name}` is no `topic/id`; write both in lowercase letters, digits and single hyphens, such as"
                " placement/born-there"
            )
    same = sorted(bank.glob(f"questions/*/{question}.yaml"))
    module = question.replace("-", "_")
    grader = bank / "graders" / topic / question
    files = {
        bank / "questions" / topic / f"{question}.yaml": _QUESTION,
        grader / "scenarios.py": _SCENARIOS,
        grader / f"test_{module}.py": _TESTS,
    }
    files |= {bank / "solutions" / topic / question / each: text for each, text in _SOLUTIONS.items()}
    for path in (*same, *files):
        if path.exists():
            raise UsageError(f"{path}: is there already; nothing was written")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return [*files]


def unfinished(question: Question) -> list[Diagnostic]:
    """What an author still has to do: a line for each mark that is left in the question's files."""
    files = [question.path, *sorted(question.grader.glob("*.py")), *sorted(question.solutions.glob("*/*.py"))]
    found = []
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            column = line.find(MARK)
            if column >= 0:
                told = line[column + len(MARK) :].strip().rstrip("\"']")
                found.append(Diagnostic(_shown(path), number, column + 1, f"to do: {told}"))
    return found


def _shown(path: Path) -> str:
    below = path.is_relative_to(Path.cwd())
    return os.path.relpath(path) if below else str(path)
