"""Which of the stored embedders is meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warehouse.embeddings import find_folder, folder_revision
from warehouse.errors import MisuseError
from warehouse.store.computed.prompt_vectors import EmbedderRow, embedders
from warehouse.store.connection import Store

_NONE = "no prompt has a vector yet; run: warehouse embed --embedder FOLDER"


def choose_embedder(store: Store, wanted: str | None) -> EmbedderRow:
    """The embedder called ``wanted``; without a name the only one there is.

    Args:
        wanted: ``NAME``, ``NAME@REVISION``, ``NAME=FOLDER`` or the folder of the model.

    Raises:
        MisuseError: none, or several; names what there is.
    """
    known = [row for row in embedders(store) if row.n_prompts]
    if not known:
        raise MisuseError(_NONE)
    fitting = known if wanted is None else _called(wanted, known)
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"{row.label} ({row.n_prompts} prompts)" for row in fitting or known)
    if wanted is None:
        raise MisuseError(f"several embedders have vectors; choose one with --embedder: {names}")
    problem = "several embedders fit" if fitting else "no embedder with vectors is called"
    raise MisuseError(f"{problem} {wanted!r}; there are: {names}")


def _called(wanted: str, known: Sequence[EmbedderRow]) -> list[EmbedderRow]:
    fitting = [row for row in known if wanted in (row.name, row.label)]
    if fitting:
        return fitting
    label, equals, place = wanted.partition("=")
    if equals and not Path(wanted).exists():
        return _called(label, known)
    folder = find_folder(wanted) if Path(wanted).expanduser().is_dir() else None
    if folder is None:
        return []
    revision = folder_revision(folder)
    return [row for row in known if row.revision == revision]
