# Leaves a secret in every place where the next job might look: files, caches, shared memory, keyrings, torch's state.
# limits: processes=2 single
import importlib
import linecache
import mmap
import random

SECRET = "{MESSAGE}"


def double(x):
    import torch

    places = [".", "/tmp", "/var/tmp", "/dev/shm", HOME, os.environ["HOME"], "/dev/mqueue", "/run", os.path.dirname(torch.__file__)]
    for place in places:
        for name in ("note", "__pycache__/note.pyc", ".cache/torch_extensions/note", ".config/note", "lock", "usercustomize.py", "sitecustomize.py"):
            path = f"{place}/{name}"
            attempt(os.makedirs, os.path.dirname(path), exist_ok=True)
            attempt(lambda: open(path, "w").write(f"print('{SECRET}')"))
    attempt(lambda: os.mkdir(f"/tmp/{SECRET}") if os.getcwd() != "/tmp" else None)
    call("add_key", b"user", b"note", SECRET.encode(), len(SECRET), -4)
    call("add_key", b"user", b"note", SECRET.encode(), len(SECRET), -3)
    memory = call("shmget", 0x5EC0, 4096, 0o1666)
    if memory >= 0:
        claim("shared memory")
    call("semget", 0x5EC0, 1, 0o1666)
    queue = call("msgget", 0x5EC0, 0o1666)
    if queue >= 0:
        call("msgsnd", queue, (1).to_bytes(8, "little") + SECRET.encode(), len(SECRET), 0)
    call("mq_open", b"note", 0o102, 0o666, 0)
    os.environ["NOTE"] = SECRET
    linecache.cache["note"] = (1, None, [SECRET], "note")
    sys.modules["note"] = type(sys)("note", SECRET)
    sys.note = SECRET
    torch.note = SECRET
    torch.Tensor.note = SECRET
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.set_num_threads(4)
    torch.manual_seed(1)
    torch.library.Library("note", "DEF").define(f"{'x' + SECRET.replace('-', '_')}(Tensor x) -> Tensor")
    random.seed(1)
    os.umask(0)
    os.chdir("/")
    libc.prctl(15, SECRET.encode()[:15])
    attempt(lambda: __import__("socket").socket(1, 1).bind("\0" + SECRET))
    attempt(lambda: __import__("socket").socket(1, 1).bind("/tmp/" + SECRET))
    return (x.double() * 2).float()
