# Makes system calls as programs of another word length do: by `int 0x80`, and by x32's numbers.
# ways: int_0x80 int_0x80_socket x32 x32_fork
import mmap


def machine(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def int_0x80():
    # getpid of the 32-bit table
    if machine(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3") > 0:
        claim("a call of the 32-bit table is answered")


def int_0x80_socket():
    # fork of the 32-bit table
    if machine(b"\xb8\x02\x00\x00\x00\xcd\x80\xc3") >= 0:
        claim("a fork of the 32-bit table is answered")


def x32():
    if libc.syscall(ctypes.c_long(0x40000000 + 39)) >= 0:
        claim("an x32 call is answered")


def x32_fork():
    if libc.syscall(ctypes.c_long(0x40000000 + 57)) >= 0:
        claim("an x32 call is answered")


def double(x):
    if os.uname().machine == "x86_64":
        globals()["{WAY}"]()
    return x * 2
