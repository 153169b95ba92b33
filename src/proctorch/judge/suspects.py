"""The names that deserve a look where a submission uses them, and those near them that do not."""

from proctorch.judge.grade import FlagKind

_NAMES: dict[FlagKind | None, str] = {
    FlagKind.PATCH: """
        unittest.mock mock forbiddenfruit torch.cuda.memory.change_current_allocator
        torch.nn.modules.module.register_module_forward_hook
        torch.nn.modules.module.register_module_forward_pre_hook
        torch.nn.modules.module.register_module_full_backward_hook
        torch.nn.modules.module.register_module_full_backward_pre_hook
        torch.nn.modules.module.register_module_buffer_registration_hook
        torch.nn.modules.module.register_module_module_registration_hook
        torch.nn.modules.module.register_module_parameter_registration_hook
    """,
    FlagKind.MEMORY: """
        ctypes _ctypes cffi _cffi_backend mmap gc.get_objects gc.get_referrers gc.get_referents gc.callbacks
        gc.garbage gc.set_debug
    """,
    FlagKind.FRAMES: """
        inspect.stack inspect.currentframe inspect.trace inspect.getouterframes inspect.getinnerframes
        inspect.getframeinfo inspect.getsource inspect.getsourcelines inspect.getsourcefile inspect.getfile
        inspect.getmodule inspect.getclosurevars sys._getframe sys._current_frames sys._current_exceptions
        sys._getframemodulename sys.settrace sys.setprofile sys.monitoring sys.addaudithook threading.settrace
        threading.setprofile traceback.walk_stack traceback.walk_tb traceback.extract_stack bdb linecache
    """,
    FlagKind.IMPORTS: """
        sys.modules sys.meta_path sys.path sys.path_hooks sys.path_importer_cache importlib imp pkgutil runpy
        zipimport builtins.__import__ builtins.__loader__ builtins.__spec__
    """,
    FlagKind.PROCESS: """
        os._exit os.abort os.kill os.killpg os.fork os.forkpty os.execl os.execle os.execlp os.execlpe os.execv
        os.execve os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve
        os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp os.system os.popen os.startfile os.dup os.dup2
        os.closerange os.pipe os.write os.writev os.getppid os.setsid os.memfd_create os.pidfd_open os.openpty
        os.register_at_fork posix nt subprocess _posixsubprocess signal multiprocessing torch.multiprocessing
        concurrent.futures.ProcessPoolExecutor pty fcntl resource faulthandler
    """,
    FlagKind.LATER: "atexit weakref.finalize _thread",
    FlagKind.FILES: """
        os.walk os.fwalk os.readlink os.open os.read os.readv os.pread os.sendfile os.environ os.environb
        os.getenv glob fileinput torch.from_file torch.UntypedStorage.from_file torch.package
    """,
    FlagKind.NETWORK: """
        socket _socket ssl urllib urllib3 requests http httpx aiohttp ftplib smtplib poplib imaplib telnetlib
        socketserver xmlrpc websocket websockets paramiko wget huggingface_hub torch.hub webbrowser
    """,
    FlagKind.BUILT_CODE: """
        builtins.eval builtins.exec builtins.compile types.CodeType marshal code codeop
        torch.utils.cpp_extension torch.ops.load_library torch.classes.load_library
    """,
    FlagKind.INTERNALS: "torch.library torch.overrides torch.utils._python_dispatch",
    FlagKind.GRADER: "pytest _pytest proctorch scenarios conftest",
    None: """
        importlib.metadata importlib.util.find_spec importlib.resources urllib.parse http.HTTPStatus
        multiprocessing.cpu_count torch.multiprocessing.cpu_count torch.multiprocessing.set_sharing_strategy
        torch._assert torch._assert_async torch._check torch._check_value torch._dynamo torch._inductor
        torch._functorch torch._logging torch._higher_order_ops torch._scaled_mm torch._int_mm
        torch.utils._pytree torch._utils
    """,
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}

#: Attributes that lead from an object to a frame, to a function's inside, or to all classes.
FRAME_ATTRIBUTES = frozenset(
    {
        "f_back",
        "f_locals",
        "f_globals",
        "f_builtins",
        "f_code",
        "tb_frame",
        "gi_frame",
        "cr_frame",
        "ag_frame",
        "__globals__",
        "__closure__",
        "__code__",
        "cell_contents",
        "__subclasses__",
        "__builtins__",
    }
)

#: Settings that torch documents as variables to be assigned, under `torch.backends`.
_SETTINGS = frozenset(
    {
        "benchmark",
        "benchmark_limit",
        "deterministic",
        "enabled",
        "allow_tf32",
        "fp32_precision",
        "allow_fp16_reduced_precision_reduction",
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation",
        "strategy",
        "max_size",
    }
)

#: Variables of the environment that say how torch works.
_VARIABLES = (
    *("PYTORCH_", "TORCH_", "CUDA_", "CUBLAS_", "CUDNN_", "NCCL_", "HIP_", "ROCR_", "XPU_", "OMP_", "MKL_", "KMP_"),
    *("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"),
)


def kind_of(path: str) -> FlagKind | None:
    """What kind of look the use of a name deserves, by its full dotted path; None if none."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in _KINDS:
            return _KINDS[name]
    if parts[0] == "torch" and any(map(_is_private, parts)) and not parts[1].startswith("_foreach_"):
        return FlagKind.INTERNALS
    return None


def is_setting(path: str) -> bool:
    """Whether assigning to it is what torch's documentation tells to do."""
    parts = path.split(".")
    return parts[0] == "torch" and (
        (parts[1:2] == ["backends"] and parts[-1] in _SETTINGS)
        or ("config" in parts[2:-1] and parts[1] in {"_dynamo", "_inductor", "_functorch"})
    )


def is_variable(name: str) -> bool:
    """Whether a variable of the environment is torch's own."""
    return name.startswith(_VARIABLES)


def _is_private(part: str) -> bool:
    """`_C`, `_lazy_init`; not `__version__`, nor classes such as `_LRScheduler`, which many use for want of others."""
    return part.startswith("_") and not part.startswith("__") and (len(part) == 2 or part[1].islower())
