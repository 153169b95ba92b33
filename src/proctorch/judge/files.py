"""Files as strangers hand them in: one by one, in a folder or in an archive. Nothing is unpacked onto the disk."""

import errno
import gzip
import io
import os
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from proctorch.errors import UsageError
from proctorch.judge.helpers import Refused

#: Bytes of a file of source, and of a notebook with the pictures in it.
MAX_SOURCE, MAX_NOTEBOOK = 1 << 20, 16 << 20
#: Of one folder or archive: files of Python, bytes of them together, and entries of any kind.
MAX_FILES, MAX_TOTAL, MAX_ENTRIES = 1_000, 64 << 20, 20_000
#: Bytes of an archive, and of a tar file when its compression is undone.
MAX_ARCHIVE, MAX_TAR = 64 << 20, 512 << 20
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_OTHER_ARCHIVES = (".7z", ".bz2", ".gz", ".rar", ".xz", ".zst")
#: Folders that tools write. Whatever begins with a dot is left out too.
_JUNK = frozenset({"__MACOSX", "__pycache__", "node_modules", "site-packages", "venv"})
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True)
class Tree:
    """The files of Python in a folder or an archive, by relative name; the archives in it, and links to folders."""

    files: dict[str, bytes]
    archives: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def beside(self, name: str) -> Callable[[str], bytes | None]:
        """What reads the files in the folder of the file `name`, by their names from there."""
        folder = PurePosixPath(name).parent
        known = {unicodedata.normalize("NFKC", each): content for each, content in self.files.items()}
        return lambda relative: known.get(unicodedata.normalize("NFKC", str(folder / relative)))


def is_python(name: str) -> bool:
    """Whether it is a file of Python by its suffix, notebooks included."""
    return name.lower().endswith((".py", ".ipynb"))


def is_archive(name: str) -> bool:
    """Whether it is an archive by its suffix. UsageError for one that is not read."""
    if name.lower().endswith(_ARCHIVES):
        return True
    if name.lower().endswith(_OTHER_ARCHIVES):
        raise UsageError(f"{name}: pack it as one of {', '.join(_ARCHIVES)}")
    return False


def read_plain(path: Path, most: int) -> bytes:
    """The content of a file that is one: no link, no folder, no device, at most `most` bytes. Refused says why not."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            raise Refused("is a symbolic link; give the file that it points to")
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - a descriptor, so that what is checked is what is read
            kind = os.fstat(file.fileno()).st_mode
            if stat.S_ISDIR(kind):
                raise Refused("is a folder")
            if not stat.S_ISREG(kind):
                raise Refused("is no plain file")
            size = os.fstat(file.fileno()).st_size
            if size > most:
                raise Refused(f"{size:,} bytes; at most {most:,} are read")
            return file.read(most)
    except (FileNotFoundError, NotADirectoryError):
        raise Refused("no such file") from None
    except OSError as error:
        if error.errno == errno.EISDIR:
            raise Refused("is a folder") from None
        raise Refused(f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a null byte in the name
        raise Refused(f"cannot be read: {error}") from None


def beside(path: Path) -> Callable[[str], bytes | None]:
    """What reads the files in the folder of `path`, by their names from there, and follows no links."""

    def read(relative: str) -> bytes | None:
        for name in dict.fromkeys((relative, unicodedata.normalize("NFD", relative))):  # as macOS writes it
            file = path.parent / name
            if os.path.lexists(file):
                if any(each.is_symlink() for each in file.parents[: len(PurePosixPath(name).parts) - 1]):
                    raise Refused("is in a folder that is a symbolic link")
                return read_plain(file, most(name))
        return None

    return read


def most(name: str) -> int:
    """Bytes that a file of Python may have, by its suffix."""
    return MAX_NOTEBOOK if name.lower().endswith(".ipynb") else MAX_SOURCE


def read_folder(root: Path) -> Tree:
    """The files of Python in a folder and the folders below it. UsageError for a link, or for more than is read."""
    files: dict[str, bytes] = {}
    archives: list[str] = []
    links: list[str] = []
    entries = 0

    def fail(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(root, onerror=fail):
        if "pyvenv.cfg" in names:  # a virtual environment
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not _is_junk(name))
        links += [each.relative_to(root).as_posix() for name in folders if (each := Path(folder, name)).is_symlink()]
        entries += len(folders) + len(names)
        if entries > MAX_ENTRIES:
            raise UsageError(f"{root}: more than {MAX_ENTRIES:,} files; name the folder that has the answers")
        for name in sorted(names):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if _is_junk(name):
                continue
            if is_python(name):
                try:
                    files[relative] = read_plain(path, most(name))
                except Refused as reason:
                    raise UsageError(f"{path}: {reason}") from None
                _check_total(root, files)
            elif name.lower().endswith(_ARCHIVES):
                archives.append(relative)
    return Tree(files, tuple(archives), tuple(links))


def read_archive(path: Path) -> Tree:
    """The files of Python in an archive, read in memory. UsageError for one that is damaged, protected, or hostile."""
    try:
        return unpack(path, read_plain(path, MAX_ARCHIVE))
    except Refused as reason:
        raise UsageError(f"{path}: {reason}") from None


def unpack(path: Path, data: bytes) -> Tree:
    """The same for an archive's content. `path` tells what kind it is."""
    try:
        return _taken(path, _zip_entries(data) if path.suffix.lower() == ".zip" else _tar_entries(data))
    except Refused as reason:
        raise UsageError(f"{path}: {reason}") from None
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever damaged or hostile bytes provoke is the same one thing
        raise UsageError(f"{path}: cannot be unpacked: it is damaged ({type(error).__name__}: {error})") from None


@dataclass(frozen=True)
class _Entry:
    """One entry of an archive, as the archive tells it. `odd` is what makes it none to take, or empty."""

    name: str
    size: int
    odd: str
    read: Callable[[], bytes]


def _taken(path: Path, entries: Iterable[_Entry]) -> Tree:
    files: dict[str, bytes] = {}
    seen: set[str] = set()
    archives: list[str] = []
    for number, entry in enumerate(entries):
        if number >= MAX_ENTRIES:
            raise Refused(f"more than {MAX_ENTRIES:,} entries; pack the answers alone")
        name = _inside(entry.name)
        if not name or any(map(_is_junk, name.split("/"))):
            continue
        if entry.odd:
            raise Refused(f"`{name}` in it is {entry.odd}; pack plain files alone")
        if name in seen:
            raise Refused(f"`{name}` in it is there twice")
        seen.add(name)
        if is_python(name):
            if entry.size > most(name):
                raise Refused(f"`{name}` in it has {entry.size:,} bytes; at most {most(name):,} are read")
            files[name] = entry.read()
            _check_total(path, files)
        elif name.lower().endswith(_ARCHIVES):
            archives.append(name)
    return Tree(files, tuple(archives))


def _check_total(root: Path, files: dict[str, bytes]) -> None:
    if len(files) > MAX_FILES:
        raise UsageError(f"{root}: more than {MAX_FILES:,} files of Python; give the answers alone")
    if sum(map(len, files.values())) > MAX_TOTAL:
        raise UsageError(f"{root}: more than {MAX_TOTAL >> 20} MiB of Python; give the answers alone")


def _inside(name: str) -> str:
    """A name in an archive, with slashes alone. Refused if it leads out of it; empty for the archive itself."""
    name = name.replace("\\", "/")  # of an archive made on Windows
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or _DRIVE.match(name) or ".." in parts:
        raise Refused(f"`{name}` in it leads out of the archive")
    return "/".join(parts)


def _is_junk(name: str) -> bool:
    return name.startswith(".") or name in _JUNK


def _zip_entries(data: bytes) -> Iterator[_Entry]:
    if data.count(b"PK\x01\x02") > MAX_ENTRIES:  # before all of them are read
        raise Refused(f"more than {MAX_ENTRIES:,} entries; pack the answers alone")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield _Entry(info.filename, info.file_size, _zip_oddity(info), lambda info=info: archive.read(info))  # type: ignore[misc]  # mypy cannot type a default


def _zip_oddity(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        return "a symbolic link" if kind == stat.S_IFLNK else "a device"
    if info.flag_bits & 1:
        return "protected by a password"
    # What else there is can be unpacked only as a whole, however large that is.
    packed = info.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    return "" if packed else "compressed in a way that is not read (deflate is)"


def _tar_entries(data: bytes) -> Iterator[_Entry]:
    stream: BinaryIO = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        stream = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]  # it reads bytes, which is all that is asked
    with tarfile.open(fileobj=_Capped(stream), mode="r|") as archive:
        for member in archive:
            if member.isdir():
                continue
            odd = "a link" if member.issym() or member.islnk() else "" if member.isreg() else "a device"

            def read(member: tarfile.TarInfo = member) -> bytes:
                file = archive.extractfile(member)
                return file.read() if file else b""

            yield _Entry(member.name, member.size, odd, read)


class _Capped(io.RawIOBase):
    """A stream that ends in Refused rather than without end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = MAX_TAR

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise Refused(f"more than {MAX_TAR >> 20} MiB when it is unpacked")
        return data
