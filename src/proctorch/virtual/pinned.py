"""Pinned host memory: which ordinary host memory torch believes to be page-locked.

`torch.empty(…, pin_memory=True)`, `Tensor.pin_memory` and a non-blocking copy to the host all ask the CUDA hooks for
an allocator (`aten/src/ATen/EmptyTensor.cpp`), and `Tensor.is_pinned` asks them about a pointer. Here the allocator
is the CPU's, with a note taken of each block: its `allocate` is Python, and the deleter of a block is a few bytes of
machine code that free it and strike out the note (a deleter may run anywhere, so it cannot be Python).

The layout of a `c10::DataPtr` (`c10/core/Allocator.h`, `c10/util/UniqueVoidPtr.h`) is four words: the data, the
deleter, what the deleter is given, and the device. `works` checks it on a block of the CPU's allocator.
"""

import ctypes

from proctorch.virtual.native import Code, VTable, library, virtual_functions, word

_DATA, _DELETER, _CONTEXT = 0, 1, 2
_NOTES = 4096


class _Note(ctypes.Structure):
    """A live block; `size` is 0 when it is free."""

    _fields_ = (("size", ctypes.c_uint64), ("data", ctypes.c_uint64))
    size: int
    data: int


class PinnedMemory:
    def __init__(self) -> None:
        #: Fresh blocks are filled with this byte, if given: what is read too early should look wrong.
        self.fill: int | None = None
        get = library("libc10.so")._ZN3c1015GetCPUAllocatorEv
        get.restype = ctypes.c_void_p
        self._host_allocator: int = get()
        host_table = ctypes.c_void_p.from_address(self._host_allocator).value
        assert host_table is not None
        names = virtual_functions("c10/core/Allocator.h")
        names = names[: names.index("copy_data") + 1]  # other classes follow in the same file
        position = names.index("allocate")
        entry = ctypes.c_void_p.from_address(host_table + 8 * position).value
        assert entry is not None
        self._allocate_on_host = ctypes.CFUNCTYPE(ctypes.c_void_p, *(ctypes.c_void_p,) * 2, ctypes.c_size_t)(entry)
        self._notes = (_Note * _NOTES)()
        self._next = 0
        block = (ctypes.c_uint64 * 4)()
        self._allocate_on_host(ctypes.addressof(block), self._host_allocator, 64)
        self.works = block[_DATA] == block[_CONTEXT] and block[_DELETER] != 0
        code = Code()
        # push rbx; mov rbx,rdi; mov rdi,[rbx+8]; mov rax,deleter; call rax; mov qword [rbx],0; pop rbx; ret
        self._release = code.add("53 4889FB 488B7B08 48B8", word(block[_DELETER]), "FFD0 48C70300000000 5B C3")
        code.seal()
        self._code = code
        self._allocate_type = ctypes.CFUNCTYPE(ctypes.c_void_p, *(ctypes.c_void_p,) * 2, ctypes.c_size_t)
        self._callback = self._allocate_type(self._allocate)
        allocate = ctypes.cast(self._callback, ctypes.c_void_p).value
        assert allocate is not None
        self._table = VTable(names, {"allocate": allocate}, default=None, original=host_table)
        self._object = ctypes.c_void_p(self._table.address)
        self._question = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)(self._is_pinned)

    @property
    def allocator(self) -> int:
        """The address of our `c10::Allocator`."""
        return ctypes.addressof(self._object)

    @property
    def question(self) -> int:
        """The address of the function that says whether a pointer is pinned."""
        value = ctypes.cast(self._question, ctypes.c_void_p).value
        assert value is not None
        return value

    def holds(self, pointer: int) -> bool:
        return any(note.size and note.data <= pointer < note.data + note.size for note in self._notes[: self._next])

    def _is_pinned(self, _: int | None, pointer: int | None) -> bool:
        return pointer is not None and self.holds(pointer)

    def _allocate(self, result: int, _: int, size: int) -> int:
        self._allocate_on_host(result, self._host_allocator, size)
        block = (ctypes.c_uint64 * 4).from_address(result)
        if size:
            note = self._free_note()
            if note is not None:  # else this block is ordinary memory, which is slower and otherwise the same
                note.data, note.size = block[_DATA], size
                block[_DELETER], block[_CONTEXT] = self._release, ctypes.addressof(note)
            if self.fill is not None:
                ctypes.memset(block[_DATA], self.fill, size)
        return result

    def _free_note(self) -> _Note | None:
        for position in range(self._next):
            if not self._notes[position].size:
                return self._notes[position]
        if self._next == _NOTES:
            return None
        self._next += 1
        return self._notes[self._next - 1]
