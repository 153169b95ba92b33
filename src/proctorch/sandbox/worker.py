"""One job's process: confines itself, loads the candidate, plays scenarios on request and answers with plain data."""

import ast
import contextlib
import errno
import faulthandler
import inspect
import os
import random
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from proctorch import wire
from proctorch.sandbox import helpers, probe, system

_MIB = 1 << 20
_MAX_MOMENTS = 300
#: Errors of the system that mean a limit, by their number.
_EXCEEDED = {
    **dict.fromkeys((errno.ENOSPC, errno.EFBIG, errno.EDQUOT), "disk"),
    errno.EMFILE: "open_files",
    errno.ENOMEM: "memory",
}
#: What autocast computes in, by device type, before anybody has changed it.
_AUTOCAST_DTYPES = {device_type: torch.get_autocast_dtype(device_type) for device_type in ("cpu", "cuda")}


def serve(
    *,
    requests: int,
    answers: int,
    whereabouts: int,
    confine: Callable[[], list[str]],
    folder: str,
    virtual: list[int] | None,
) -> NoReturn:
    """Answers requests until there are no more; never returns to the zygote's code.

    `requests` and `answers` are descriptors of frames; `confine` confines this process and says which limits hold:
    the first answer, to no request. `folder` is the job's own, `virtual` the bytes of each virtual accelerator, or
    None for a torch without a trace of any. To `whereabouts` goes a traceback when the judge asks for one with SIGUSR2,
    before it ends a process that takes too long, when it has used up its CPU time, and when it dies of a fault such as
    SIGSEGV.
    """
    faulthandler.enable(file=whereabouts, all_threads=False)
    for number in (signal.SIGUSR2, signal.SIGXCPU):
        faulthandler.register(number, file=whereabouts, all_threads=False)
    limits = confine()
    os.chdir(folder)
    os.environ["TMPDIR"] = os.environ["HOME"] = folder
    tempfile.tempdir = folder  # an import before the fork has cached another one
    # A fork leaves torch's thread pool to be made anew by whoever asks first (pthreadpool.cc in caffe2/utils). Two
    # threads of the autograd engine that ask at once abort the process, so it is asked for here.
    torch.set_num_threads(1)
    if virtual is not None:
        from proctorch.virtual import enable  # noqa: PLC0415 - a job on a real device has no trace of it

        enable(memory=virtual)
    # From this answer on, whatever ends this process is the candidate's doing.
    _write(answers, wire.encode({"id": 0, "limits": limits}))
    job = _Job(folder, virtual=virtual is not None)
    while True:
        length = _read(requests, wire.LENGTH.size)
        request = _plain(wire.decode(_read(requests, wire.LENGTH.unpack(length)[0])))
        answer = _ACTIONS[request["op"]](job, request)
        _flush()
        _write(answers, _encode(answer | {"id": request["id"]}))


def settle(seed: int) -> None:
    """Puts back the global state that an earlier scenario may have changed, and seeds the random generators."""
    torch.set_grad_enabled(True)
    _leave_modes()
    torch.set_default_device(None)
    _leave_modes()  # a default device that is given up may put an earlier one back
    torch.set_default_dtype(torch.float32)
    for api in (torch.cuda, torch.xpu):
        if api.is_initialized() and api.current_device() != 0:
            api.set_device(0)
    if torch.are_deterministic_algorithms_enabled():  # asked first: the call imports the compiler, for a second
        torch.use_deterministic_algorithms(mode=False)
    for device_type, dtype in _AUTOCAST_DTYPES.items():
        torch.set_autocast_enabled(device_type, False)
        torch.set_autocast_dtype(device_type, dtype)
    torch.clear_autocast_cache()
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))


def _leave_modes() -> None:
    """Ends modes that were entered and never left, such as `torch.device("meta")` as a context."""
    while torch._C._len_torch_function_stack():
        torch._C._pop_torch_function_stack()


class _Candidate:
    """The submission as scenarios see it: its entry points. Notes whether one was asked for, to know whom to charge."""

    def __init__(self, module: types.ModuleType, names: list[str]) -> None:
        self._module = module
        self._names = names
        self.touched = False

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(f"the question has no entry point {name!r}")
        self.touched = True
        return getattr(self._module, name)


class _Job:
    def __init__(self, folder: str, *, virtual: bool) -> None:
        self._folder = folder
        self._virtual = virtual
        self._file = ""
        self._helpers: frozenset[str] = frozenset()
        self._candidate: _Candidate
        self._scenarios: dict[str, Any] = {}

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs the grader's scenarios module: asked for first, while what this says can still be believed."""
        self._scenarios = {"__name__": "scenarios", "__file__": "scenarios.py"}
        try:
            exec(compile(request["scenarios"], "scenarios.py", "exec", dont_inherit=True), self._scenarios)  # noqa: S102 - ours
        except BaseException as error:  # noqa: BLE001 - the grader's fault, whatever it is
            return {"broken": self._error(error)}
        return {}

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs the candidate's module; says what it defines.

        The candidate's module has the submission's name, is in `sys.modules`, and its source is in `linecache`, so that
        `inspect`, dataclasses and `torch.jit` work as they would for a file. Its helper files can be imported.
        """
        self._file, source = request["file"], request["source"]
        answer: dict[str, Any] = {}
        try:
            with warnings.catch_warnings(action="ignore"):  # a SyntaxWarning is shown when the module runs
                tree = ast.parse(source, self._file)
            code = compile(source, self._file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return answer | {"invalid": probe.describe_error(error, self._file)}
        answer["functions"] = [
            [node.name, node.lineno]
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        ]
        module = types.ModuleType(request["module"])
        module.__file__ = self._file
        sys.modules[request["module"]] = module
        helpers.remember(self._file, source)
        self._helpers = helpers.install(request["helpers"])
        settle(request["seed"])
        try:
            exec(code, module.__dict__)  # noqa: S102 - to run a stranger's code is what this process is for
        except BaseException as error:  # noqa: BLE001 - sys.exit() included
            return answer | {"raised": self._error(error)}
        answer["entry"] = {name: _entry(module, name, parameters) for name, parameters in request["entry"].items()}
        self._candidate = _Candidate(module, list(request["entry"]))
        return answer

    def play(self, request: dict[str, Any]) -> dict[str, Any]:
        """Plays one scenario from a clean global state."""
        os.chdir(self._folder)
        settle(request["seed"])
        self._candidate.touched = False
        seen = probe.Probe(self._file)
        try:
            scenario = self._scenarios.get(request["scenario"])
            if scenario is None:
                raise LookupError(f"scenarios.py has no {request['scenario']}")
            device = torch.device(request["device"])
            if device.type == "cuda" and request["budget"] and not self._virtual:
                total = torch.cuda.get_device_properties(device).total_memory
                torch.cuda.set_per_process_memory_fraction(min(1.0, request["budget"] / total), device)
            with self._observed(seen):
                value = scenario(self._candidate, device, seen, **request["inputs"])
            if device.type == "cuda":
                torch.cuda.synchronize()  # an asynchronous fault belongs to this scenario, not to the next
        except BaseException as error:  # noqa: BLE001 - sys.exit() included
            told = self._error(error)
            return {
                "raised": told,
                "touched": self._candidate.touched,
                "traces": seen.traces,
                "moments": seen.moments,
            }
        return {"value": value, "traces": seen.traces, "moments": seen.moments}

    @contextlib.contextmanager
    def _observed(self, seen: probe.Probe) -> Iterator[None]:
        """Notes the memory of the virtual accelerator as time goes by."""
        if not self._virtual:
            yield
            return
        from proctorch.virtual import record_timeline, timeline  # noqa: PLC0415 - see `serve`

        began = time.perf_counter()
        try:
            with record_timeline():
                yield
        finally:
            moments = [[each.seconds - began, each.live, each.size if each.failed else 0] for each in timeline()]
            seen.moments = _thinned(moments)

    def _error(self, error: BaseException) -> dict[str, Any]:
        told = {"limit": _exceeded(error), "trace": _trace(error), "helper": self._place_in_helper(error)}
        return probe.describe_error(error, self._file) | told

    def _place_in_helper(self, error: BaseException) -> str:
        """Where in a helper file it was raised, if the candidate's innermost line is there; else empty."""
        innermost, trace = "", error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file == self._file or file in self._helpers:
                innermost = "" if file == self._file else f"{file}, line {trace.tb_lineno}"
            trace = trace.tb_next
        return innermost


_ACTIONS = {"prepare": _Job.prepare, "load": _Job.load, "play": _Job.play}


def _exceeded(error: BaseException) -> str:
    """Which limit of the process the exception tells of, or nothing."""
    text = str(error) if type(error) is RuntimeError else ""
    if isinstance(error, MemoryError) or "DefaultCPUAllocator: can't allocate memory" in text:
        return "memory"
    if text == "can't start new thread" or "Resource temporarily unavailable" in text:
        return "threads"
    if type(error) is BlockingIOError:
        return "processes"
    return _EXCEEDED.get(error.errno or 0, "") if isinstance(error, OSError) else ""


def _thinned(moments: list[list[Any]]) -> list[list[Any]]:
    """At most some hundred of them: the highest of each stretch of time, and every failure up to a number."""
    if len(moments) <= _MAX_MOMENTS:
        return moments
    step = -(-len(moments) // _MAX_MOMENTS)
    highest = [max(moments[at : at + step], key=lambda each: each[1]) for at in range(0, len(moments), step)]
    failures = [each for each in moments if each[2]][:_MAX_MOMENTS]
    return sorted([each for each in highest if not each[2]] + failures, key=lambda each: each[0])


def _entry(module: types.ModuleType, name: str, parameters: list[list[Any]]) -> dict[str, Any]:
    """Whether the entry point is there and can be called as the question calls it."""
    if not hasattr(module, name):
        return {"problem": "missing"}
    entry = getattr(module, name)
    if not callable(entry):
        return {"problem": "not callable"}
    try:
        signature = inspect.signature(entry)
    except (TypeError, ValueError):  # a builtin or a callable that hides it: the calls will tell
        return {}
    needed = [each for each, default, _ in parameters if default is None]
    positional = [each for each, _, keyword_only in parameters if not keyword_only]
    keywords = [each for each, _, keyword_only in parameters if keyword_only]
    try:
        signature.bind(*positional, **dict.fromkeys(keywords))
        signature.bind(**dict.fromkeys(each for each, _, _ in parameters))
        signature.bind(**dict.fromkeys(needed))
    except TypeError:
        return {"problem": "parameters", "signature": str(signature)[:300]}
    return {}


def _trace(error: BaseException) -> str:
    """The whole traceback as text, for the interviewer."""
    import traceback  # noqa: PLC0415 - only when something went wrong

    try:
        return "".join(traceback.format_exception(error, limit=-30))[-8000:]
    except BaseException as worse:  # noqa: BLE001 - a stranger's exception
        return f"(no traceback: {type(worse).__name__})"


def _plain(value: Any) -> Any:
    """Requests come from the judge: their tensors are wanted as tensors."""
    match value:
        case wire.Received():
            return value.tensor.requires_grad_(value.requires_grad)
        case list():
            return [_plain(each) for each in value]
        case tuple():
            return tuple(_plain(each) for each in value)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case wire.Named():
            return torch.device(value.text) if value.type == "torch.device" else getattr(torch, value.text[6:])
        case _:
            return value


def _encode(answer: dict[str, Any]) -> bytes:
    try:
        return wire.encode(answer, opaque=True)
    except wire.FrameError as error:
        told: dict[str, Any] = {"types": [], "message": f"the answer is too large: {error}", "frames": [], "line": None}
        return wire.encode(
            {"id": answer["id"], "raised": told, "touched": True, "traces": {}, "moments": [], "functions": []}
        )


def _flush() -> None:
    """Writes out what is printed so far, to streams that the candidate may have replaced, closed or broken."""
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()
    system.flush_c_streams()


def _read(descriptor: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = os.read(descriptor, min(size - len(data), _MIB))
        if not part:
            os._exit(0)  # the judge is done
        data += part
    return bytes(data)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
