"""A store of the dumps at some paths: the one that is kept of them, or a new one.

It is found again by the content of the files (`content`), stands on a shelf in the
user's cache (`shelf`), and is made in a temporary folder where that cannot be written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from warehouse.analysis.repeats.joined import notes_on_joined
from warehouse.dumps.content import SeenFile, digest_of, files_below, look_at_all
from warehouse.dumps.reading import DumpReading, Said
from warehouse.dumps.shelf import HeldFolder, Shelf
from warehouse.errors import DiskFullError, InputError, MisuseError
from warehouse.ingest.progress import IngestProgress
from warehouse.store.open import open_store
from warehouse.store.temporary import TemporaryFolder

#: In the folder of a store: itself, and what was said when it was made.
STORE, SAID = "dumps.db", "said.json"
#: Errors that are said where nothing could be read.
_TOLD = 3

#: Shows how far a reading is, for as long as it takes.
Shown = Callable[[], AbstractContextManager[IngestProgress | None]]


class DumpStore:
    """A store that holds what some dumps say; nobody writes to it but for what was
    computed of it.

    Attributes:
        url: of the store.
        said: what was said when the dumps were read.
        is_new: whether they were read just now.
        is_kept: whether the next one who asks finds it.
    """

    def __init__(
        self, folder: HeldFolder | TemporaryFolder, said: Said, *, is_new: bool
    ) -> None:
        self._folder = folder
        self.url = str(folder.path / STORE)
        self.said, self.is_new = said, is_new
        self.is_kept = isinstance(folder, HeldFolder)

    def close(self) -> None:
        """Let it go; what is not kept is removed."""
        self._folder.close()


def store_of_dumps(
    paths: Sequence[str | Path],
    reading: DumpReading,
    *,
    shelf: Shelf | None = None,
    shown: Shown | None = None,
) -> DumpStore:
    """The store of the dumps at some paths; whoever gets it closes it.

    Args:
        paths: files and folders.
        reading: how they are read.
        shelf: where it is kept; None: in the user's cache.
        shown: shows how far the reading is.

    Raises:
        MisuseError: a path that is not there.
        InputError: nobody knows any file, or every source was refused.
    """
    shelf = Shelf(os.environ) if shelf is None else shelf
    places = [os.path.normpath(path) for path in paths]
    request = reading.digest(places)
    files, beside = _seen(shelf, request, places)
    kept = _kept(shelf, request, files | beside)
    if kept is not None:
        return kept
    draft = shelf.draft()
    try:
        try:
            said, others = _made(draft.path, places, reading, shown)
        except (DiskFullError, OSError):
            draft.close()
            draft = TemporaryFolder()  # on another disk, as a rule
            said, others = _made(draft.path, places, reading, shown)
        beside = look_at_all(others, {})
        folder = None
        after = look_at_all(files_below(places), files)
        if digest_of(after) == digest_of(files):  # else it is of neither
            folder = _put(shelf, draft, request, after, beside)
    except BaseException:
        draft.close()
        raise
    return DumpStore(draft if folder is None else folder, said, is_new=True)


def _seen(
    shelf: Shelf, request: str, places: Sequence[str]
) -> tuple[dict[str, SeenFile], dict[str, SeenFile]]:
    """The files below the paths as they are, and those that were read with them last
    time."""
    noted: dict[str, SeenFile] = {}
    others: list[str] = []
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        index = shelf.index(request)
        noted = {
            os.fsdecode(bytes.fromhex(path)): SeenFile.from_json(seen)
            for path, seen in index.get("files", {}).items()
        }
        others = [os.fsdecode(bytes.fromhex(path)) for path in index.get("others", ())]
    files = look_at_all(files_below(places), noted)
    return files, look_at_all(others, noted)


def _kept(shelf: Shelf, request: str, files: dict[str, SeenFile]) -> DumpStore | None:
    folder = shelf.held(request, digest_of(files))
    if folder is None:
        return None
    try:
        said = Said.from_json(json.loads((folder.path / SAID).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError):
        folder.close()
        return None
    return DumpStore(folder, said, is_new=False)


def _put(
    shelf: Shelf,
    draft: TemporaryFolder,
    request: str,
    files: dict[str, SeenFile],
    beside: dict[str, SeenFile],
) -> HeldFolder | None:
    """Put a new store onto the shelf, and note of which files it is."""
    folder = shelf.keep(draft, request, digest_of(files | beside))
    if folder is not None:
        noted = {
            os.fsencode(path).hex(): seen.to_json()
            for path, seen in (files | beside).items()
        }
        others = [os.fsencode(path).hex() for path in beside]
        shelf.note(request, {"files": noted, "others": others})
    return folder


def _made(
    folder: Path, places: Sequence[str], reading: DumpReading, shown: Shown | None
) -> tuple[Said, list[str]]:
    """Make the store in a folder; what was said, and the files that were read besides."""
    from warehouse.ingest.discover import discover
    from warehouse.ingest.nothing_found import refuse_nothing
    from warehouse.ingest.pipeline import load

    with (shown or _silent)() as progress:
        found = discover(places, **reading.arguments())
        refuse_nothing(
            found,
            places,
            format=reading.format,
            mapping=reading.mapping,
            known={**(reading.values or {}), **(reading.defaults or {})},
        )
        with open_store(str(folder / STORE), create=True) as store:
            report = load(store, found, progress=progress)
            notes = notes_on_joined(store, report.joined_runs)
            said = Said.of(report.with_changed(notes))
    require_some(said)
    (folder / SAID).write_text(json.dumps(asdict(said)))
    named = set(files_below(places))
    companions = chain.from_iterable(part.companions for part in (found, *found.more))
    others = dict.fromkeys(map(str, companions))
    return said, [path for path in others if path not in named]


@contextmanager
def _silent() -> Iterator[None]:
    yield None


def require_some(said: Said) -> None:
    """Refuse dumps of which nothing could be read (InputError: says why)."""
    if said.n_sources:
        return
    errors = [error for _, error in said.refused]
    if len(errors) > _TOLD:
        more = f"… and {len(errors) - _TOLD} more: warehouse ingest PATH tells them"
        errors = [*errors[:_TOLD], more]
    raise InputError("\n".join(errors))


def require_dumps(paths: Sequence[str | Path]) -> None:
    """Refuse what is no file or folder of this machine, and what is a store (MisuseError:
    names it)."""
    from warehouse.ingest.remote_hosts import is_url

    if not paths:
        raise MisuseError("name a file or folder of results")
    for path in paths:
        if is_url(path):
            raise MisuseError(
                f"'{path}' is a URL: what is fetched is kept in a store; ingest it "
                "first: warehouse ingest URL"
            )
        if not os.path.exists(path):
            raise MisuseError(f"no file or folder '{path}'")
        if os.path.isfile(path) and _is_store(Path(path)):
            raise MisuseError(
                f"'{path}' is a store, no dump; ask it: warehouse --db {path} leaderboard"
            )


def _is_store(path: Path) -> bool:
    """True if a file is one of the engine that keeps stores in files."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:  # a folder, or not for us: whoever reads it says so
        return False
