"""The few places where the virtual device goes below Python: machine code, C++ vtables, the current device of a thread.

torch asks a device for small facts through C++ virtual functions (`c10/core/impl/DeviceGuardImplInterface.h`,
`aten/src/ATen/detail/CUDAHooksInterface.h`): its type, how many there are, which one is current. On a build without
CUDA nobody answers. There is no compiler where we run, so each answer is a function of a few bytes, written here by
hand, in a page that is made executable once filled. They must not be Python: torch's backward threads call them
without the interpreter's lock, and also while the interpreter is shutting down, where a Python answer ends the
process.

Everything assumes the System V calling convention on x86-64 and the Itanium C++ ABI, so Linux on x86-64 only.
"""

import ctypes
import mmap
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

_LIBC: Any = ctypes.CDLL(None, use_errno=True)
_PAGE = mmap.PAGESIZE
_RELATIVE = 2  # a vtable is preceded by two words, "offset to top" and the type information
#: The most devices there can be. torch is told this number: its first backward makes a thread for each, once.
MOST_DEVICES = 4
_TORCH = Path(torch.__file__).parent


def library(name: str) -> Any:
    """One of torch's own shared libraries, already loaded."""
    return ctypes.CDLL(str(_TORCH / "lib" / name))


def address(function: Any) -> int:
    """Where a C function is."""
    value = ctypes.cast(function, ctypes.c_void_p).value
    assert value is not None
    return value


class _Symbol(ctypes.Structure):
    """`Dl_info` (dlfcn.h)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    )
    file: bytes


def library_of(pointer: int) -> str:
    """The name of the shared library that an address is in; empty if it is in none."""
    found = _Symbol()
    return Path(found.file.decode()).name if _LIBC.dladdr(ctypes.c_void_p(pointer), ctypes.byref(found)) else ""


class Code:
    """A page of functions. `add` returns a function's address; nothing may be called before `seal`."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._used = 0

    def add(self, *parts: str | bytes) -> int:
        code = b"".join(bytes.fromhex(part) if isinstance(part, str) else part for part in parts)
        assert self._used + len(code) <= _PAGE
        start = self._used
        self._memory[start : start + len(code)] = code
        self._used = (start + len(code) + 15) // 16 * 16
        return self._start + start

    def seal(self) -> None:
        """Makes the page executable and no longer writable."""
        if _LIBC.mprotect(ctypes.c_void_p(self._start), _PAGE, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "this system allows no executable memory")


def word(value: int) -> bytes:
    return value.to_bytes(8, "little")


def half(value: int) -> bytes:
    return value.to_bytes(4, "little")


class Natives:
    """The functions that torch is given, as addresses, and the current device of this thread.

    A `c10::Device` is two bytes, type then index, and travels in a register; a `c10::Stream` is a device and a
    number, in two. The current device belongs to a thread (torch's backward threads each have their own), so it is
    kept with `pthread_setspecific`, which C and Python can both reach.
    """

    def __init__(self) -> None:
        key = ctypes.c_uint()
        if _LIBC.pthread_key_create(ctypes.byref(key), None):
            raise OSError("no thread-specific storage is left in this process")
        self._key = key.value
        self.device_count = ctypes.c_int(1)
        read, write = address(_LIBC.pthread_getspecific), address(_LIBC.pthread_setspecific)
        get = ("BF", half(self._key), "48B8", word(read), "FFD0")  # mov edi,key; mov rax,read; call rax
        put = ("BF", half(self._key), "48B8", word(write))  # mov edi,key; mov rax,write
        as_device = "C1E008 83C801"  # shl eax,8; or eax,1: the index above the type, CUDA
        code = Code()
        self.zero = code.add("31C0 31D2 C3")  # xor eax,eax; xor edx,edx; ret: false, null, "nothing to do"
        self.one = code.add("B801000000 C3")  # mov eax,1; ret: true, and DeviceType::CUDA
        self.nothing_elapsed = code.add("0F57C0 C3")  # xorps xmm0,xmm0; ret: 0.0
        self.most_devices = code.add("B8", half(MOST_DEVICES), "C3")
        self.count = code.add("48B8", word(ctypes.addressof(self.device_count)), "8B00 C3")  # mov eax,[count]; ret
        self.default_stream = code.add("89F0 31D2 C3")  # mov eax,esi; xor edx,edx; ret: the asked device's stream 0
        self.current_index = code.add("4883EC08", *get, "4883C408 C3")  # sub rsp,8 … add rsp,8; ret
        self.current_device = code.add("4883EC08", *get, as_device, "4883C408 C3")
        # movzx esi,si; shr esi,8; cmp esi,127; ja end; put; jmp rax; end: ret. An index below 0 changes nothing.
        self.set_device = code.add("0FB7F6 C1EE08 83FE7F 7711", *put, "FFE0 C3")
        # push rbx; mov ebx,esi; get; push rax; sub rsp,8; (set_device); add rsp,8; pop rax; as_device; pop rbx; ret
        self.exchange_device = code.add(
            *("53 89F3", *get, "50 4883EC08"),
            *("0FB7F3 C1EE08 83FE7F 7711", *put, "FFD0"),
            *("4883C408 58", as_device, "5B C3"),
        )
        self._code = code  # keeps the page
        code.seal()
        self._read = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_uint)(read)
        self._write = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)(write)

    def current(self) -> int:
        """The current device of this thread."""
        return int(self._read(self._key))

    def make_current(self, index: int) -> int:
        """Changes the current device of this thread; returns the one before."""
        before = self.current()
        if index >= 0:
            self._write(self._key, index)
        return before

    def returning(self, value: int) -> int:
        """The address of a function that returns `value`, a pointer."""
        code = Code()
        function = code.add("48B8", word(value), "C3")  # mov rax,value; ret
        code.seal()
        self._more = code
        return function


def virtual_functions(*headers: str) -> list[str]:
    """The names in a C++ class's vtable, in order, from the headers that ship with torch, base class first.

    The compiler fills a vtable in the order of the declarations that say `virtual`; a destructor takes two places.
    """
    names: list[str] = []
    for header in headers:
        text = (_TORCH / "include" / header).read_text(encoding="utf-8")
        text = re.sub(r"//.*|/\*.*?\*/", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
        for name in re.findall(r"\bvirtual\b[^({;]*?(~?\w+)\s*\(", text):
            names += ["~", "~"] if name.startswith("~") else [name]
    return names


class VTable:
    """A vtable of ours. Keep the object for as long as torch may look at it."""

    def __init__(self, names: Iterable[str], slots: dict[str, int], *, default: int | None, original: int = 0) -> None:
        """`slots` by name; the others are `default` or, if that is None, as in the vtable at address `original`."""
        order = list(names)
        missing = [name for name in slots if name not in order]
        if missing:
            raise LookupError(f"torch {torch.__version__} declares no virtual function {missing[0]}")
        self._words = (ctypes.c_void_p * (len(order) + _RELATIVE))()
        if default is None:
            ctypes.memmove(self._words, original - _RELATIVE * 8, ctypes.sizeof(self._words))
        for position, name in enumerate(order, _RELATIVE):
            if name in slots:
                self._words[position] = slots[name]
            elif default is not None:
                self._words[position] = default
        self.address = ctypes.addressof(self._words) + _RELATIVE * 8
