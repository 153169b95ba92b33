"""What deserves a look in a submission's source is found, by kind and line; what is ordinary is not."""

import dataclasses
from pathlib import Path
from textwrap import dedent

import pytest

from proctorch.bank.bank import Bank
from proctorch.judge.grade import Flag, FlagKind, Verdict
from proctorch.judge.integrity import LONGEST_SOURCE, MOST_FLAGS, audit
from proctorch.judge.plan import Plan
from proctorch.judge.session import grade
from proctorch.judge.submission import Submission

_HERE = Path(__file__).parent


def found(source: str) -> list[str]:
    """Line and kind of each flag."""
    return [f"{flag.line} {flag.kind.value}" for flag in audit(dedent(source))]


FLAGGED = {
    # ---- what others use is changed
    "assigns into torch": ("import torch\ntorch.cuda.synchronize = print", ["2 patch"]),
    "into a class": ("from torch import Tensor\nTensor.item = float", ["2 patch"]),
    "by another name": ("import torch as t\nc = t.cuda\nc.synchronize = 1", ["3 patch"]),
    "from a package": ("from torch import cuda\ncuda.synchronize = 1", ["2 patch"]),
    "in a function": ("import time\ndef f(x):\n    time.perf_counter = lambda: 0", ["3 patch"]),
    "with an operator": ("import math\nmath.pi += 1", ["2 patch"]),
    "deletes": ("import json\ndel json.loads", ["2 patch"]),
    "several at once": ("import torch, json\njson.a, (torch.b, *json.c) = x", ["2 patch"]),
    "as a loop's variable": ("import torch\nfor torch.cuda.x in y: pass", ["2 patch"]),
    "for a loop's module": ("import torch, json\nfor m in (torch, json):\n    m.x = 1", ["3 patch"]),
    "as a default": ("import torch\ndef f(x, t=torch):\n    t.x = 1", ["3 patch"]),
    "setattr": ("import torch\nsetattr(torch.Tensor, 'item', f)", ["2 patch"]),
    "delattr": ("import torch\ndelattr(torch.Tensor, 'item')", ["2 patch"]),
    "type.__setattr__": ("import torch\ntype.__setattr__(torch.Tensor, 'item', f)", ["2 patch"]),
    "its own __setattr__": ("import torch\ntorch.__setattr__('x', f)", ["2 patch"]),
    "vars": ("import torch\nvars(torch)['x'] = 1", ["2 patch"]),
    "__dict__": ("import torch\ntorch.__dict__['x'] = 1", ["2 patch"]),
    "update": ("import torch\ntorch.__dict__.update(x=1)", ["2 patch"]),
    "getattr": ("import torch\ngetattr(torch, 'cuda').x = 1", ["2 patch"]),
    "globals": ("import torch\nglobals()['torch'].x = 1", ["2 patch"]),
    "builtins": ("import builtins\nbuiltins.print = f", ["2 patch"]),
    "__builtins__": ("globals()['__builtins__']['print'] = f", ["1 patch"]),
    "a class of a value": ("def f(x):\n    type(x).item = 1\n    x.__class__.item = 1", ["2 patch", "3 patch"]),
    "mock": ("from unittest import mock\nmock.patch('torch.x')", ["1 patch", "2 patch"]),
    "sys.modules": ("import sys\nsys.modules['torch'] = x", ["2 patch"]),
    "a switch that is a function": ("import torch\ntorch.backends.cuda.is_built = f", ["2 patch"]),
    # ---- reaches for what is not given
    "gc": ("import gc\nfor x in gc.get_objects(): pass", ["2 memory"]),
    "gc by name": ("from gc import get_referrers as g\ng(1)", ["1 memory", "2 memory"]),
    "ctypes": ("import ctypes", ["1 memory"]),
    "frames": ("import sys\nsys._getframe().f_back.f_locals", ["2 frames"]),
    "inspect": ("import inspect\ninspect.currentframe()", ["2 frames"]),
    "a traceback": ("try: f()\nexcept E as e:\n    t = e.__traceback__\n    t.tb_frame", ["3 frames", "4 frames"]),
    "a frame by text": ("getattr(x, 'f_' + 'back')", ["1 frames", "1 hidden"]),
    "modules": ("import sys\nm = sys.modules.get('x')", ["2 imports"]),
    "importlib": ("import importlib\nimportlib.import_module('os')", ["1 imports", "2 imports"]),
    "__import__": ("__import__('os')._exit(0)", ["1 imports", "1 process"]),
    "sys.path": ("import sys\nsys.path.append('x')", ["2 imports"]),
    "os": ("import os as o\nend = o._exit\ndef f():\n    end(0)", ["2 process", "4 process"]),
    "subprocess": ("import subprocess", ["1 process"]),
    "signal": ("import signal", ["1 process"]),
    "a descriptor": ("import os\nos.write(4, b'x')\nos.fdopen(3)", ["2 process", "3 process"]),
    "a daemon": ("import threading\nthreading.Thread(target=f, daemon=True).start()", ["2 later"]),
    "a thread that nobody joins": ("from threading import Thread\nThread(target=f).start()\n', '.join(x)", ["2 later"]),
    "atexit": ("import atexit", ["1 later"]),
    "__del__": ("class A:\n    def __del__(self): f()", ["2 later"]),
    "opens": ("def f(x):\n    return open('answers.txt').read()", ["2 files"]),
    "opens by a name": ("p = 'a' + '.txt'\nopen(p)", ["2 files"]),
    "opens from the root": ("def f(x):\n    open('/proc/%s/mem' % x)", ["2 files"]),
    "opens what replaces an argument": ("def f(path):\n    path = 'a'\n    open(path)", ["3 files"]),
    "Path": ("from pathlib import Path\np = Path('a') / 'b'\np.read_text()", ["3 files"]),
    "torch.load": ("import torch\ndef f(path):\n    torch.load('a.pt')", ["3 files"]),
    "os.environ": ("import os\nos.environ['HOME']", ["2 files"]),
    "a listing": ("import os\nos.listdir('.')\nos.walk('.')", ["2 files", "3 files"]),
    "network": (
        "import socket\nfrom urllib import request\nimport torch\ntorch.hub.load('x')",
        ["1 network", "2 network", "4 network"],
    ),
    # ---- is not what it seems
    "eval": ("e = eval\ne('1')\nexec(x)", ["1 built_code", "2 built_code", "3 built_code"]),
    "pickle": ("import pickle\npickle.loads(b'cos')", ["2 built_code"]),
    "marshal": ("import marshal", ["1 built_code"]),
    "equals everything": (
        "class A:\n    def __eq__(self, other): return True\n    __ne__ = lambda s, o: False",
        ["2 disguise", "3 disguise"],
    ),
    "poses": ("class A:\n    @property\n    def __class__(self): return float", ["3 disguise"]),
    "a tensor of its own": (
        "import torch\nclass A(torch.Tensor):\n    @classmethod\n    def __torch_function__(c, *a): pass",
        ["2 disguise", "4 disguise"],
    ),
    "a class made by type": ("import torch\ntype('A', (torch.Tensor,), {})", ["2 disguise"]),
    "changes a class": ("x.__class__ = A", ["1 disguise"]),
    "torch._C": (
        "import torch\nfrom torch._C import x\ntorch._C.y\ntorch.cuda._lazy_init()",
        ["2 internals", "3 internals", "4 internals"],
    ),
    "built torch._C": ("import torch\ngetattr(torch, '_' + 'C')", ["2 hidden", "2 internals"]),
    "backwards": ("import torch\ngetattr(torch, 'C_'[::-1])", ["2 hidden", "2 internals"]),
    "of numbers": ("import torch\ngetattr(torch, ''.join(map(chr, [95, 67])))", ["2 hidden"]),
    "dispatch": ("import torch.utils._python_dispatch\nimport torch.library", ["1 internals", "2 internals"]),
    "base64": (f"x = '{'aB3dE5gH7' * 14}'", ["1 hidden"]),
    "hexadecimal": (f"x = '{'0123456789abcdef' * 4}'", ["1 hidden"]),
    "bytes": (r"x = b'" + r"\x80\xff\x01" * 30 + "'", ["1 hidden"]),
    "direction": ("x = 1  # \u202e evil", ["1 hidden"]),
    "not seen": ("x = 'a\u200bb'", ["1 hidden"]),
    "another alphabet": ("\n\u0440\u0430th = 1", ["2 hidden"]),
    "other letters": ("import os\nos._\uff45xit(0)", ["2 hidden", "2 process"]),
    # ---- knows the answer
    "a table": (f"X = [{'1.5, -2, ' * 12}]", ["1 hard_coded"]),
    "a table in rows": (f"X = [{'(1, 2, 3), ' * 8}]", ["1 hard_coded"]),
    "returned": (f"import torch\ndef f():\n    return torch.tensor([{'1, ' * 10}])", ["3 hard_coded"]),
    "an exact number": ("if x.sum() == 0.7364519: y()", ["1 hard_coded"]),
    "an exact tensor": ("import torch\nif torch.equal(x, torch.tensor([1, 2, 3, 4])): y()", ["2 hard_coded"]),
    "a seed": ("if seed == 7: y()", ["1 hard_coded"]),
    "torch's seed": (
        "import torch\nif torch.initial_seed() in (1, 2): pass\nif 7 == torch.initial_seed(): y()",
        ["2 hard_coded", "3 hard_coded"],
    ),
    "shapes": ("if x.shape == (3, 4): y()\nelif tuple(x.shape) == (5, 6): z()", ["1 hard_coded", "2 hard_coded"]),
    "its own name": ("if __name__ == 'candidate': x()", ["1 grader"]),
    "the caller's name": ("if step.__name__ == 'counting': x()", ["1 grader"]),
    "pytest": ("try:\n    import pytest\nexcept ImportError: pass", ["2 grader"]),
    "proctorch": ("from proctorch.virtual import x\ny = 'PYTEST_CURRENT_TEST'", ["1 grader", "2 grader"]),
}


@pytest.mark.parametrize(("source", "flags"), FLAGGED.values(), ids=FLAGGED)
def test_what_deserves_a_look(source: str, flags: list[str]) -> None:
    """Each of these is found, in its line, as what it is."""
    assert sorted(found(source)) == flags


ORDINARY = {
    "weights": "import torch\nmodel.weight.data = torch.zeros(3)\nmodel.fc = torch.nn.Linear(3, 3)\nx.grad = None",
    "buffers": (
        "class A(nn.Module):\n    def f(self):\n"
        "        self.register_buffer('a', x)\n        setattr(self, 'b', x)"
    ),
    "documented settings": """
        import torch
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.deterministic, x = True, 1
        torch._dynamo.config.suppress_errors = True
        setattr(torch.backends.cudnn, "benchmark", True)
        torch.set_float32_matmul_precision("high")
        torch.set_default_device("cpu")
    """,
    "variables of torch": (
        "import os\nos.environ['PYTORCH_ALLOC_CONF'] = 'x'\n"
        "os.environ.get('LOCAL_RANK', 0)\nos.getenv('CUDA_VISIBLE_DEVICES')"
    ),
    "no_grad": (
        "import torch\n@torch.no_grad()\n@torch.compile\n"
        "def f(model, x):\n    model.eval()\n    return isinstance(x, torch.Tensor)"
    ),
    "files that are given": """
        import io, os, tempfile, torch
        from pathlib import Path
        def save(state, path):
            beside = f"{path}.part"
            torch.save(state, beside)
            os.replace(beside, path)
            with open(Path(path).parent / "log.txt", "a") as file:
                file.write("saved")
            path = Path(path)
            path.read_bytes()
            for each in path.iterdir():
                each.read_text()
            with open(path) as a, tempfile.TemporaryDirectory() as folder:
                torch.save(state, f"{folder}/a.pt")
            buffer = io.BytesIO()
            torch.save(state, buffer)
            torch.load(buffer, weights_only=True)
    """,
    "a path of its own": (
        "class A:\n"
        "    def __init__(self, path): self.path = path\n    def read(self): return open(self.path)"
    ),
    "equality": """
        import dataclasses
        @dataclasses.dataclass(eq=True)
        class A:
            x: int
            def __eq__(self, other):
                return isinstance(other, A) and other.x == self.x
    """,
    "freeing memory": """
        import gc, torch, traceback
        def f(step):
            try:
                return step()
            except torch.OutOfMemoryError as error:
                traceback.clear_frames(error.__traceback__)
                error.__traceback__ = None
                if type(error).__name__ == "OutOfMemoryError" and "out of memory" in str(error): pass
            gc.collect()
            torch.cuda.empty_cache()
    """,
    "backends by name": """
        import torch
        def f(device):
            for name in ("cuda", "mps"):
                if hasattr(torch.backends, name) and getattr(torch, name).is_available(): return name
            return getattr(torch, device.type), getattr(torch, f"is_{device}_on")
    """,
    "names of its own": "import time\ndef f(torch, time, input):\n    torch.x = 1\n    time.y = 2\n    input.z = 3",
    "a counter of its class": "class A:\n    def f(self):\n        type(self).n += 1\n        self.__class__.n = 2",
    "comparisons": (
        "if x == 1e-5 or x.shape == (3, 4) or x.shape[0] == 12 or n == 67108864 or n == 10_000_000: pass\n"
        "assert seed is not None"
    ),
    "a main part": "if __name__ == '__main__':\n    print('done')",
    "a joined thread": "import threading\nt = threading.Thread(target=f)\nt.start()\nt.join()",
    "signature": "import inspect, functools\ninspect.signature(f).parameters\nfunctools.wraps(f)",
    "helpers of torch": (
        "import torch\ntorch._foreach_mul_(a, 2)\n"
        "isinstance(m, torch.nn.modules.batchnorm._BatchNorm)\ntorch.__version__"
    ),
    "hooks": (
        "h = model.register_forward_hook(f)\nh.remove()\n"
        "super().__setattr__('x', 1)\nobject.__setattr__(self, 'x', 1)"
    ),
    "Greek": "\u03b1 = 1\n\u03c3_max = 2\n\u00b5 = 3\nprint('naïve café 👩\u200d💻')",
    "long prose": f'"""{"A long text of words, as people write. " * 20}"""\nx = "{"=" * 200}"\ny = "{"ab" * 100}"',
    "lists": (
        "betas = (0.9, 0.999)\nsizes = [64, 32, 16, 8, 4, 2, 1]\n"
        "d = {'lr': 1e-3, 'eps': 1e-8}\nreturn_ = [0.0] * 1000"
    ),
    "a comment on the question": "# proctorch: pick-device\n# eval(torch._C)\nx = 1",
}  # fmt: skip


@pytest.mark.parametrize("source", ORDINARY.values(), ids=ORDINARY)
def test_what_is_ordinary(source: str) -> None:
    """None of these is found."""
    assert found(source) == []


#: It asks for a tool that watches torch's own calls: its answers do what deserves a look in any other.
ASKS_FOR_IT = "find-the-culprit"


def test_shipped_answers_raise_no_flag() -> None:
    """No starter, and no shipped solution, right or wrong, does anything that deserves a look, but to one question."""
    bank = Bank.load()
    sources = {question.id: question.starter for question in bank.questions}
    for path in (bank.root / "solutions").rglob("*.py"):
        if path.parents[1].name != ASKS_FOR_IT:
            sources[str(path)] = Submission(path).text
    assert len(sources) > 600
    assert {name: found(source) for name, source in sources.items() if audit(source)} == {}


def test_a_flag_says_what_and_why() -> None:
    """A flag has the line, shortened, and a sentence; long names are cut."""
    name = "x" * 200
    assert audit(f"import torch\n\n  \ntorch.{name} = 1\n") == (
        Flag(FlagKind.PATCH, 4, f"torch.{'x' * 94}…", f"assigns into `torch.{'x' * 54}…`"),
    )
    assert audit("import ctypes")[0].sentence == (
        "Line 1 imports `ctypes`: objects of others can be found and changed so."
    )


@pytest.mark.parametrize(
    "source", ["def f(:\n", "x = '\0'", "(" * 300, "", "\ufeff\n", "if x:\npass", "x = '\ud800'"], ids=ascii
)
def test_what_is_no_python_has_no_flags(source: str) -> None:
    """That is the verdict's to say."""
    assert audit(source) == ()


@pytest.mark.parametrize(
    "line", ["x = " + "-" * 50_000 + "1", "x = " + "+".join("1" * 20_000), "x = y" + ".z" * 20_000]
)
def test_what_is_nested_too_deeply_is_one_flag(line: str) -> None:
    """What no parser reads is said, and does no harm."""
    flags = audit(f"import ctypes\n{line}\n")
    assert [flag.does for flag in flags] == ["begins a file that is too deeply nested to be read"]


@pytest.mark.parametrize("nested", ["(lambda a: " * 60 + "b" + ")" * 60, "a" + "[b]" * 80, "f(" * 80 + ")" * 80])
def test_what_is_nested_deeply_is_read(nested: str) -> None:
    """Depth as such is no obstacle: what stands beside it is found."""
    assert found(f"x = {nested}; import ctypes") == ["1 memory"]


def test_a_huge_file_is_one_flag() -> None:
    """A file that would cost much to look through says so instead."""
    assert [flag.does for flag in audit("import ctypes\n" + "x\n" * LONGEST_SOURCE)] == [
        "begins a file of 200,014 characters: too long to be looked through"
    ]


def test_many_flags_are_counted() -> None:
    """Only so many are listed; the last one says how many there are beside them."""
    flags = audit("import ctypes\n" * 200)
    assert len(flags) == MOST_FLAGS == 50
    assert (flags[-1].line, flags[-1].does) == (50, "begins 151 more findings that are not listed")


def test_short_texts_that_spell_long_ones_cost_little() -> None:
    """A text is put together only so far, however often it is doubled."""
    doubled = "".join(f"a{n + 1} = a{n} + a{n} + a{n}\n" for n in range(400))
    names = f"import torch\na0 = '{'y' * 1000}'\n{doubled}"
    assert found(f"{names}getattr(torch, a1)") == ["403 hidden"]
    assert found(f"{names}getattr(torch, a400)") == []


def test_lines_are_counted_as_python_counts_them() -> None:
    """Line ends of all three kinds, form feeds and separators do not shift what is said."""
    assert found("# \x0c\r\nx = 'a'\r\rimport ctypes\n") == ["4 memory"]


def test_no_verdict_depends_on_a_flag() -> None:
    """A right answer that does what deserves a look is accepted with all points, and has its flags."""
    bank = Bank.load(_HERE / "bank")
    right = "def double(x):\n    return x + x\n"
    sources = {"plain.py": right, "odd.py": f"import torch, gc\ntorch.nothing = gc.get_objects()\n{right}"}
    question = bank.questions[0]
    submissions = [Submission(name, source.encode()) for name, source in sources.items()]
    plain, odd = grade(Plan.build(bank, submissions, devices=["cpu"], question=question), seed=1)
    assert plain.flags == ()
    assert [(flag.kind, flag.line) for flag in odd.flags] == [(FlagKind.PATCH, 2), (FlagKind.MEMORY, 2)]
    assert plain.verdict is odd.verdict is Verdict.ACCEPTED
    assert [dataclasses.replace(each, place=None) for each in odd.checks] == [
        dataclasses.replace(each, place=None) for each in plain.checks
    ]
