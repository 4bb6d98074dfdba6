"""Dumps at URLs, fetched into a temporary folder that mirrors them.

Whatever `fsspec <https://filesystem-spec.readthedocs.io>`_ opens can be read:
``hf://``, ``s3://``, ``https://`` and others, where the package of the protocol is
installed. What a URL holds beside its place (user, password, parameters) is used and
never told: see :func:`shown_url`.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import unquote

from warehouse.errors import InputError, MisuseError, WarehouseError
from warehouse.extras import install_command
from warehouse.ingest.discover import Discovered
from warehouse.ingest.progress import FetchProgress
from warehouse.ingest.remote_hosts import Hosts, in_words, is_url, parts_of, shown_url
from warehouse.store.temporary import temporary_folder

#: Names of folders that importers may look at above a source; so many of a copy are
#: always the same.
ABOVE = 16
#: Files that are fetched at a time.
TOGETHER = 8
#: Characters of a name that file systems take.
NAME_BYTES = 255
#: Those of HTTP have no folders: one is known by the slash at the end of its URL.
HTTP = frozenset({"http", "https"})


@dataclass(frozen=True)
class FetchLimits:
    """The most that may be fetched, of all URLs of one call together."""

    files: int = 10_000
    bytes: int = 20_000_000_000
    #: from the first request to the last byte, however slowly it comes.
    seconds: float = 7200.0
    #: whether redirections may lead to this machine and to private networks, from
    #: elsewhere.
    allow_private: bool = False


@dataclass(frozen=True)
class Fetched:
    """Paths of which those that were URLs are local copies."""

    paths: tuple[str | Path, ...]  #: in the order as given.
    #: path of a copy, or of the folder that it is in, to what is told instead.
    urls: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  #: what is to be told of the fetching.

    def shown(self, text: str) -> str:
        """A text with places of copies replaced by the URLs that they are of."""
        for path, url in self.urls.items():
            text = text.replace(path, url)
        return text

    def named(self, discovered: Discovered) -> Discovered:
        """The jobs found below the paths, under the names of the URLs."""
        if not self.urls:
            return discovered
        jobs = tuple(
            replace(job, files=replace(job.files, name=self.shown(job.files.name)))
            for job in discovered.jobs
        )
        unread = tuple(
            replace(item, name=self.shown(str(item.path))) for item in discovered.unread
        )
        plan = replace(discovered.plan, shown=self.shown)
        notes = (*discovered.notes, *self.notes)
        more = tuple(
            replace(self.named(part), notes=part.notes) for part in discovered.more
        )
        return replace(
            discovered, jobs=jobs, unread=unread, plan=plan, notes=notes, more=more
        )


@contextmanager
def fetched(
    paths: Iterable[str | Path],
    *,
    limits: FetchLimits | None = None,
    progress: FetchProgress | None = None,
) -> Iterator[Fetched]:
    """Copies of what is at URLs, for as long as they are read.

    Args:
        paths: files, folders and URLs; those of folders are walked, ``*`` stands for
            any characters. Copies of hidden files are not made, as they are not read.
        limits: None: the usual ones.
        progress: told how many bytes have come.

    Raises:
        MisuseError: a package is missing, a protocol is unknown, nothing is there, or
            there is more than the limits.
        InputError: what is there cannot be reached, or not be fetched.
    """
    given = list(paths)
    if not any(map(is_url, given)):
        yield Fetched(tuple(given))
        return
    with temporary_folder() as folder:
        fetch = _Fetch(folder, limits or FetchLimits(), progress)
        local = tuple(fetch.copy(path) if is_url(path) else path for path in given)
        copies = Fetched(local, fetch.urls, tuple(fetch.notes))
        try:
            yield copies
        except WarehouseError as error:
            error.args = (copies.shown(str(error)), *error.args[1:])
            raise


@dataclass(frozen=True)
class _File:
    """A file at a URL: its name for the file system, where it goes, and its bytes if
    that is known."""

    remote: str
    target: Path
    size: int | None


class _FetchStopped(Exception):
    """The rest is not fetched any more."""


class _Fetch:
    """A fetch, with what has come so far."""

    def __init__(
        self, folder: Path, limits: FetchLimits, progress: FetchProgress | None
    ) -> None:
        self.folder = folder
        self.limits = limits
        self.progress = progress
        self.urls: dict[str, str] = {}
        self.notes: list[str] = []
        self.end = time.monotonic() + limits.seconds
        self.files = self.folders = self.bytes = self.number = 0
        self.stopped = False
        self.lock = Lock()

    def copy(self, path: str | Path) -> Path:
        """A copy of what is at a URL; where it lies."""
        url = str(path)
        shown = shown_url(url)
        over_http = url.partition("://")[0].lower() in HTTP
        pattern = "*" in parts_of(url)[0] and not over_http
        base = self._base(_start(shown) if pattern else shown)
        try:
            hosts = Hosts(url, shown, self.limits.allow_private)
            system, root = _opened(url, shown, hosts, self.end - time.monotonic())
            if pattern:
                files = list(self._matching(system, root, base))
            else:
                files = list(self._files_at(system, root, base, over_http))
            self._announce(files, shown)
            self._get(system, files)
        except WarehouseError:
            raise
        except Exception as error:
            raise (self._too_slow() if self.is_late else in_words(error, url)) from None
        self.notes += hosts.notes
        return base

    def _base(self, shown: str) -> Path:
        """Where the copy of a URL lies: in folders of the same names as there."""
        self.number += 1
        base = self.folder / str(self.number) / Path(*["_"] * ABOVE)
        for part in reversed(parts_of(shown)):
            scheme, _, address = part.partition("://")
            words = [scheme, *address.split("/")]
            names = [unquote(word) if scheme in HTTP else word for word in words]
            base = base.joinpath(
                *[
                    _name(name, word)
                    for name, word in zip(names, words, strict=True)
                    if word
                ]
            )
        upper = shown.rstrip("/").rpartition("/")[0]
        # the folder itself, and the one that a file is in: messages may name either
        self.urls |= {
            str(base): shown.rstrip("/"),
            f"{base.parent}{os.sep}": f"{upper}/",
        }
        base.parent.mkdir(parents=True, exist_ok=True)
        return base

    def _matching(self, system: Any, root: str, base: Path) -> Iterator[_File]:
        """The files that a pattern names."""
        start = root.partition("*")[0].rpartition("/")[0]
        matching = system.glob(root, detail=True)
        if not matching:
            raise FileNotFoundError(root)
        base.mkdir()
        for name, info in matching.items():
            if info["type"] != "directory":
                yield from self._file(base, name[len(start) :], name, info.get("size"))

    def _files_at(
        self, system: Any, root: str, base: Path, over_http: bool
    ) -> Iterator[_File]:
        """The files at a URL."""
        if over_http and root.partition("?")[0].endswith("/"):
            if "?" in root:
                raise MisuseError(
                    f"'{shown_url(root)}' is a folder with parameters; its files would "
                    "not have them"
                )
            yield from self._folder(system, root, base, web=True)
            return
        info = system.info(root)
        if info["type"] == "directory":
            yield from self._folder(system, root, base)
        else:
            self._count(1)
            yield _File(root, base, info.get("size"))

    def _folder(
        self, system: Any, root: str, base: Path, *, web: bool = False
    ) -> Iterator[_File]:
        """The files below a folder. (The file systems' own ``walk`` leaves out what
        cannot be listed.)"""
        base.mkdir()
        start = root.rstrip("/")
        waiting = [root]
        while waiting:
            folder = waiting.pop()
            here = folder[len(start) :].strip("/")
            for info in system.ls(folder, detail=True):
                path = info["name"][len(start) :].strip("/")
                if path == here or _is_left_out(
                    path, info["name"], root if web else ""
                ):
                    continue
                if info["type"] == "directory":
                    self._count(0, 1)
                    waiting.append(info["name"])
                else:
                    yield from self._file(
                        base,
                        unquote(path) if web else path,
                        info["name"],
                        info.get("size"),
                    )

    def _file(
        self, base: Path, path: str, remote: str, size: int | None
    ) -> Iterator[_File]:
        """A file below a folder, unless it is hidden.

        Raises:
            InputError: its name would lead out of the folder, or is none that a file
                can have.
        """
        names = [name for name in path.split("/") if name]
        if any(
            name in (".", "..") or "\0" in name or len(os.fsencode(name)) > NAME_BYTES
            for name in names
        ):
            raise InputError(
                f"a file with the name {path[:200]!r}",
                path=shown_url(remote),
                expected="one that a file here can have",
            )
        if not names or any(map(_is_hidden, names)):
            return
        self._count(1)
        yield _File(remote, base.joinpath(*names), size)

    @property
    def is_late(self) -> bool:
        """True if the time for all is over."""
        return time.monotonic() >= self.end

    def _too_slow(self) -> MisuseError:
        return MisuseError(
            f"fetching took longer than {self.limits.seconds:g} seconds, and nothing "
            "was read; name less, or give --max-time"
        )

    def _count(self, files: int, folders: int = 0) -> None:
        if self.is_late:
            raise self._too_slow()
        self.files += files
        self.folders += folders
        if max(self.files, self.folders) > self.limits.files:
            raise MisuseError(
                f"there are more than {self.limits.files} files, or folders, to fetch; "
                "name a folder or pattern with fewer, or give --max-files"
            )

    # --- bytes -----------------------------------------------------------------------------

    def _announce(self, files: Sequence[_File], shown: str) -> None:
        total_bytes = sum(file.size or 0 for file in files)
        if self.bytes + total_bytes > self.limits.bytes:
            raise self._too_large()
        if self.progress is not None:
            whole = all(file.size is not None for file in files)
            self.progress.fetch(shown, len(files), total_bytes if whole else None)

    def _came(self, count: int) -> None:
        """So many bytes have come. Called on the threads that fetch."""
        with self.lock:
            self.bytes += count
        if self.stopped:
            raise _FetchStopped
        if self.is_late:
            raise self._too_slow()
        if self.bytes > self.limits.bytes:
            raise self._too_large()
        if self.progress is not None:
            self.progress.came(count)

    def _too_large(self) -> MisuseError:
        return MisuseError(
            f"there are more than {self.limits.bytes:,} bytes to fetch; name a folder "
            "or pattern with fewer, or give --max-bytes"
        )

    def _get(self, system: Any, files: Sequence[_File]) -> None:
        with ThreadPoolExecutor(TOGETHER) as pool:
            jobs = [pool.submit(self._get_one, system, file) for file in files]
            try:
                for job in as_completed(jobs, max(0.0, self.end - time.monotonic())):
                    job.result()
            except BaseException:
                self.stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _get_one(self, system: Any, file: _File) -> None:
        from fsspec.callbacks import Callback

        fetch = self

        class ByteCounter(Callback):  # type: ignore[misc]
            """Counts what comes."""

            seen = 0

            def relative_update(self, inc: int = 1) -> None:
                self.seen += inc
                fetch._came(inc)

            def absolute_update(self, value: int) -> None:
                self.relative_update(value - self.seen)

        counter = ByteCounter()
        file.target.parent.mkdir(parents=True, exist_ok=True)
        system.get_file(file.remote, str(file.target), callback=counter)
        size = file.target.stat().st_size
        if size > counter.seen:  # some file systems tell nothing
            fetch._came(size - counter.seen)
        os.utime(file.target, (0, 0))  # nobody writes to it: `schedule` need not wait


def _opened(url: str, shown: str, hosts: Hosts, seconds: float) -> tuple[Any, str]:
    """The file system of a URL, and the name that the URL has in it.

    Raises:
        MisuseError: a package is missing, or the protocol unknown.
    """
    try:
        from fsspec import filesystem
        from fsspec.core import url_to_fs
    except ImportError:
        raise _missing("fsspec", shown) from None
    *inner, last = parts_of(url)
    scheme = last.partition("://")[0].lower()
    options: dict[str, Any] = {}
    if scheme in HTTP:
        options = {
            "client_kwargs": _patience(seconds),
            "get_client": hosts.client,
            "skip_instance_cache": True,
        }
    try:
        if options and not inner:
            # taken for a chain else, where it has an address of IPv6
            system = filesystem(scheme, **options)
            root = url
        else:
            system, root = url_to_fs(url, **({scheme: options} if options else {}))
    except ImportError as error:
        cause = error.__cause__  # the file systems of others are imported by name
        raise _missing(
            getattr(cause, "name", "") or error.name or "of its protocol", shown
        ) from None
    except ValueError as error:
        if "rotocol not known" not in str(error):
            raise
        raise MisuseError(
            f"'{shown}' has a protocol that is not known; expected hf://, s3://, "
            "https:// …"
        ) from None
    system.invalidate_cache()  # of listings: there may be more by now
    return system, root


def _patience(seconds: float) -> dict[str, Any]:
    """Times to wait for a web server: for an answer, for the next bytes, and for the
    whole."""
    try:
        from aiohttp import ClientTimeout
    except ImportError:
        return {}  # which the file system says itself
    return {
        "timeout": ClientTimeout(
            total=max(seconds, 0.001), sock_connect=20, sock_read=60
        )
    }


def _start(shown: str) -> str:
    """The folder at a URL that a pattern begins in."""
    first, *others = parts_of(shown)
    scheme, _, path = first.partition("://")
    return "::".join(
        [f"{scheme}://{path.partition('*')[0].rpartition('/')[0]}", *others]
    )


def _missing(package: str, shown: str) -> MisuseError:
    ours = package in ("fsspec", "aiohttp", "huggingface_hub")
    if ours:
        command = install_command("remote")
    else:
        command = f"{sys.executable or 'python'} -m pip install {package}"
    return MisuseError(
        f"'{shown}' needs the package {package}, which is not installed; run: {command}"
    )


def _name(name: str, otherwise: str) -> str:
    """A word of a URL as the name of a folder."""
    fits = (
        name not in (".", "..")
        and not re.search(r"[/\0]", name)
        and len(os.fsencode(name)) <= NAME_BYTES
    )
    if fits:
        return name
    return re.sub(r"[^\w-]", "_", otherwise)[:NAME_BYTES]


def _is_left_out(path: str, name: str, page: str) -> bool:
    """True if an entry of a folder is not for us: hidden, or, on a page of a web
    server, a link to itself in another order, or out of it."""
    if _is_hidden(path.rpartition("/")[2]):
        return True
    return bool(page) and (
        not name.startswith(page) or re.search(r"[?#]", name) is not None
    )


def _is_hidden(name: str) -> bool:
    return name.startswith(".")
