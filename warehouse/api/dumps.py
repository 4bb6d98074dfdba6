"""Result files that are asked without a store of one's own: `warehouse.read`."""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.api.catalogue import CatalogueMethods
from warehouse.api.connection import QueryMethods
from warehouse.api.load import Frame, LoadMethods
from warehouse.api.power import PowerMethods
from warehouse.api.questions import QuestionMethods
from warehouse.api.sequential import SequentialMethods
from warehouse.errors import InputError
from warehouse.questions.saying import in_python_words, saying_methods

if TYPE_CHECKING:
    from warehouse.dumps.reading import DumpReading
    from warehouse.dumps.stores import DumpStore


class ReadDumps(
    CatalogueMethods, QueryMethods, QuestionMethods, PowerMethods, SequentialMethods
):
    """What some result files say, and what can be asked of it.

    Attributes:
        paths: the files and folders.
        notes: what was said when they were read.
        refused: errors of sources of which nothing could be read.
    """

    _only_asks = True

    def __init__(self, paths: tuple[str, ...], store: DumpStore) -> None:
        """Files that have been read; `warehouse.read` reads them."""
        super().__init__(store.url)
        self.paths = paths
        said = store.said
        notes = (*said.changed, *said.on_files, *said.notes)
        self.notes: tuple[str, ...] = tuple(map(in_python_words, notes))
        self.refused: tuple[str, ...] = tuple(
            in_python_words(error) for _, error in said.refused
        )
        weakref.finalize(self, store.close)

    def __repr__(self) -> str:
        """Where they are."""
        return f"warehouse.read({', '.join(map(repr, self.paths))})"


def read(
    *paths: str | Path | Frame,
    mapping: str | Path | None = None,
    values: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    higher_is_better: bool | None = None,
    format: str | None = None,
    partial: bool = False,
) -> ReadDumps:
    """The results in files and folders, to be asked at once; no store is made.

    >>> import warehouse
    >>> print(warehouse.read("results/").leaderboard())  # doctest: +SKIP

    What was read is kept in the user's cache (``$WAREHOUSE_CACHE_SIZE``, 2 GB, the oldest
    go) and found again as long as the files are the same. Questions that change a store,
    such as :meth:`~warehouse.api.Warehouse.subset_plan`, need one that stays:
    :func:`warehouse.connect` and :meth:`~warehouse.api.Warehouse.ingest`.

    Args:
        paths: files or folders of results; folders are walked. Also frames of pandas or
            polars, and Arrow tables, as :meth:`~warehouse.api.Warehouse.ingest` takes
            them; what they hold is not kept.
        mapping: a mapping file for tabular files, or the name of a shipped one.
        values: header fields that hold whatever the files say (``{"temperature":
            0.7}``).
        defaults: header fields for what the files leave empty (``{"model":
            "org/name"}``).
        higher_is_better: direction of the metrics of which a file says none.
        format: name of an importer; None for whichever recognises a file.
        partial: answer from the other files where some are refused; what they lack is
            in ``refused``.

    Returns:
        an object with the methods of a warehouse that ask. What changes figures in how
        the files were read is warned of (`UserWarning`), and all that was said of them is
        in ``notes``.

    Raises:
        MisuseError: a path that is not there, or no path.
        InputError: nobody knows any of the files, or one of them is refused.
    """
    from warehouse.dumps.reading import DumpReading
    from warehouse.dumps.stores import require_dumps, store_of_dumps
    from warehouse.ingest.frames import NAME, is_frame

    places = tuple(os.fspath(path) for path in paths if isinstance(path, str | Path))
    frames = [path for path in paths if is_frame(path)]
    if places or not frames:
        with saying_methods():
            require_dumps(places)
    reading = DumpReading(
        format=format,
        values=values or {},
        mapping=None if mapping is None else os.fspath(mapping),
        defaults=defaults or {},
        higher_is_better=higher_is_better,
    )
    with saying_methods():
        if frames:
            store = _store_of_frames([*places, *frames], reading)
        else:
            store = store_of_dumps(places, reading)
    said = store.said
    if said.refused and not partial:
        store.close()
        errors = "\n".join(in_python_words(error) for _, error in said.refused)
        raise InputError(f"{errors}\nleave these files out, or give partial=True")
    for note in (*said.changed, *said.on_files):
        warnings.warn(in_python_words(note), UserWarning, stacklevel=2)
    return ReadDumps((*places, *[NAME] * len(frames)), store)


def _store_of_frames(sources: list[Any], reading: DumpReading) -> DumpStore:
    """A store of frames, and of files beside them, that goes with who asks it."""
    from warehouse.dumps.reading import Said
    from warehouse.dumps.stores import STORE, DumpStore, require_some
    from warehouse.store.open import open_store
    from warehouse.store.temporary import TemporaryFolder

    folder = TemporaryFolder()
    try:
        url = str(folder.path / STORE)
        open_store(url, create=True).close()
        said = Said.of(LoadMethods(url).ingest(*sources, **reading.arguments()))
        require_some(said)
    except BaseException:
        folder.close()
        raise
    return DumpStore(folder, said, is_new=True)
