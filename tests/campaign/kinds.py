"""Ways to break a file that are not in its bytes: what it is, who may read it, when it
changes."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FileMutation = Callable[[Path, random.Random], None]

POINTERS = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n",
    b"/annex/objects/SHA256E-s31390--f50d7ac4c6b9.jsonl\n",
)
PAUSE = 0.002  # seconds between two changes


def fifo(path: Path, _rng: random.Random) -> None:
    """A named pipe that nobody writes to."""
    path.unlink()
    os.mkfifo(path)


def device(path: Path, rng: random.Random) -> None:
    """A link to a device, with or without an end."""
    path.unlink()
    path.symlink_to(rng.choice(("/dev/zero", "/dev/null", "/dev/full", "/dev/tty")))


def ear(path: Path, _rng: random.Random) -> None:
    """A socket."""
    path.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:  # the name is too long for one
        fifo_or_nothing(path)
    finally:
        os.close(folder)


def fifo_or_nothing(path: Path) -> None:
    """A named pipe, where there is no file yet."""
    with suppress(FileExistsError):
        os.mkfifo(path)


def link(path: Path, rng: random.Random) -> None:
    """A link that leads nowhere, to itself, to a folder, or to the file elsewhere."""
    elsewhere = path.with_name(".moved")
    path.rename(elsewhere)
    targets = ("nowhere", path.name, ".", "/", str(elsewhere), "/proc/self/mem")
    path.symlink_to(rng.choice(targets))


def folder(path: Path, rng: random.Random) -> None:
    """A folder of the file's name, which may hold the file."""
    content = path.read_bytes()
    path.unlink()
    path.mkdir()
    if rng.random() < 0.5:
        (path / path.name).write_bytes(content)


def pointer(path: Path, rng: random.Random) -> None:
    """What stands for a file in large-file storage."""
    path.write_bytes(rng.choice(POINTERS))


def unreadable(path: Path, rng: random.Random) -> None:
    """A file, or the folder that it is in, without permissions."""
    chosen = path if rng.random() < 0.6 else path.parent
    chosen.chmod(rng.choice((0, 0, 0o100, 0o200, 0o400)))


def changing(_path: Path, _rng: random.Random) -> None:
    """The file changes while it is read: :func:`meddling` does it."""


#: What is done to a file before it is ingested.
KINDS: tuple[FileMutation, ...] = (
    fifo,
    device,
    ear,
    link,
    folder,
    pointer,
    unreadable,
    unreadable,
    changing,
    changing,
)


@contextmanager
def meddling(path: Path, rng: random.Random) -> Iterator[None]:
    """Change a file again and again in the background: append, cut, rewrite, swap, take
    away."""
    content, over = path.read_bytes(), threading.Event()
    change = rng.choice((_append, _cut, _rewrite, _swap, _take_away))
    pause = rng.choice((PAUSE, 20 * PAUSE, 200 * PAUSE))

    def work() -> None:
        while not over.wait(pause):
            with suppress(OSError):
                change(path, content, rng)

    writer = threading.Thread(target=work)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def _append(path: Path, content: bytes, rng: random.Random) -> None:
    with path.open("ab") as out:
        out.write(content[-rng.randrange(1, 400) :])
    if path.stat().st_size > 4 * len(content) + 100_000:
        path.write_bytes(content)


def _cut(path: Path, content: bytes, rng: random.Random) -> None:
    path.write_bytes(content)
    os.truncate(path, rng.randrange(len(content) + 1))


def _rewrite(path: Path, content: bytes, rng: random.Random) -> None:
    status = path.stat()
    place = rng.randrange(max(len(content), 1))
    with path.open("r+b") as out:
        out.seek(place)
        out.write(bytes([rng.randrange(256)]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _swap(path: Path, content: bytes, rng: random.Random) -> None:
    other = path.with_name(".swap")
    other.write_bytes(content[: rng.choice((len(content), len(content) // 2))])
    other.replace(path)


def _take_away(path: Path, content: bytes, rng: random.Random) -> None:
    if path.exists():
        path.unlink()
    else:
        path.write_bytes(content)
