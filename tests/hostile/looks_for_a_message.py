# Looks in every place where an earlier job may have left something.
# limits: processes=2 single
import gc
import linecache


def double(x):
    import torch

    places = [".", "/tmp", "/var/tmp", "/dev/shm", HOME, os.environ["HOME"], "/dev/mqueue", "/run", os.path.dirname(torch.__file__), "/proc/net"]
    for place in places:
        tell(attempt(os.listdir, place))
        for name in ("note", "__pycache__/note.pyc", ".cache/torch_extensions/note", ".config/note", "lock", "usercustomize.py", "sitecustomize.py", "unix"):
            attempt(read, f"{place}/{name}")
    for top in ("..", "/tmp"):
        for folder, folders, files in os.walk(top):
            tell(folders + files)
            for name in files:
                attempt(read, os.path.join(folder, name))
    room = ctypes.create_string_buffer(4096)
    for ring in (-4, -3, -5):
        key = call("keyctl", 10, ring, b"user", b"note", 0)
        if key >= 0:
            call("keyctl", 11, key, room, 4096)
            tell(room.raw)
    for size in (4096, 1):
        if call("shmget", 0x5EC0, size, 0) >= 0:
            claim("shared memory is there")
    queue = call("msgget", 0x5EC0, 0)
    if queue >= 0:
        call("msgrcv", queue, room, 4000, 0, 0o4000)
        tell(room.raw)
    tell(dict(os.environ))
    tell(linecache.cache)
    for module in ("note", "sitecustomize", "usercustomize"):
        if module in sys.modules:
            tell(vars(sys.modules[module]))
    tell(getattr(sys, "note", ""))
    tell(getattr(torch, "note", ""))
    tell(getattr(torch.Tensor, "note", ""))
    tell([attempt(str, each) for each in torch._C._jit_get_all_schemas() if "note" in each.name])
    for each in gc.get_objects():
        if type(each) is dict and "NOTE" in each:
            tell(each)
    if os.listdir(".") or torch.get_default_dtype() != torch.float32 or not torch.is_grad_enabled():
        claim("the next job is not as fresh as the first")
    return x * 2
