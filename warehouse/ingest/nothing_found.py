"""What is said where nobody knows any of the files below some paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.file_walk import Unread
from warehouse.ingest.discover import Discovered
from warehouse.ingest.drafted import Drafted, drafted
from warehouse.ingest.file_rules import is_data

#: Suffixes of files that hold others, or are packed; tables in the first two are read
#: with a mapping as they are.
ARCHIVES = frozenset(".zip .gz .tar .tgz .bz2 .xz .zst .7z .rar".split())
UNLESS = " (tables in .zip and .gz are read as they are with --map)"
#: Files that no importer knows of which is looked what they are.
_LOOKED_AT = 3
#: Kinds of files, by ending, that no table is read from.
_TEXTS = {
    ".md": "Markdown",
    ".markdown": "Markdown",
    ".html": "HTML",
    ".htm": "HTML",
    ".tex": "LaTeX",
    ".rst": "reStructuredText",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".toml": "TOML",
    ".pdf": "PDF",
}
#: Characters of what a table lacks.
_LENGTH = 500


def refuse_nothing(
    discovered: Discovered,
    paths: Sequence[str],
    *,
    format: str | None = None,
    mapping: Any = None,
    known: Mapping[str, Any] | None = None,
) -> None:
    """Refuse paths below which there is nothing to read, before a store is made for it.

    Args:
        discovered: what was found.
        paths: as people are told them.
        format: the importer that was named.
        mapping: the mapping that was named.
        known: header fields that the user gave.

    Raises:
        InputError: nobody knows any file; says what they are, and what to do.
    """
    if not discovered.is_empty:
        return
    unread = discovered.unread
    problem, advice = _before_a_look(format, unread) or _looked_at(unread, known or {})
    if mapping is None and not _is_understood(advice):
        advice += archives_advice([item.shown for item in unread])
    raise InputError(problem, path=", ".join(paths), advice=advice)


#: What an advice says of files that are read once it is followed, packed or not.
_FITS, _READ_SO = "fits by its shape", "it is read so"


def _is_understood(advice: str) -> bool:
    return _FITS in advice or _READ_SO in advice


def _before_a_look(
    format: str | None, unread: Sequence[Unread]
) -> tuple[str, str] | None:
    """What was found, and what to do, where no file need be opened for that."""
    count, reasons = len(unread), [str(item) for item in unread if item.reason]
    if reasons and len(reasons) == count:
        more = "; …" if count > 3 else ""
        return "; ".join(reasons[:3]) + more, "name files that hold data"
    if format is not None:
        advice = "without --format each file goes to the importer that knows it"
        return f"the importer {format} knows none of {count} files", advice
    if not count:
        return "holds no files; hidden ones are left out", "name a hidden file itself"
    return None


def _looked_at(unread: Sequence[Unread], known: Mapping[str, Any]) -> tuple[str, str]:
    """What the first files are, and what to do."""
    count = len(unread)
    which = f"any of {count} files"
    if count == 1:
        which = f"the only file ({unread[0].path.name})"
    problem = f"no importer knows {which}"
    draft = _draft(unread, known)
    if found := _broken(unread) or draft is None and _without_roles(unread):
        problem += f"; {found}"
    asked = None
    if draft is not None:
        path, lacking = draft
        what = lacking.why_not
        if count > 1:
            what = f"{path.name}: {what}"
        asked = (f"{problem}; {what}", lacking.advice_for(path))
        if lacking.lacks_names:
            return asked
    if shaped := shaped_by([item.path for item in unread]):
        advice = (
            f"{shaped} {_FITS}; otherwise `warehouse mapping FILE` begins a mapping"
        )
        return problem, advice
    if asked is not None:
        return asked
    if of_texts := _texts(unread):
        return problem, of_texts
    return (
        problem,
        "`warehouse mapping FILE` begins a mapping for a table, --map takes it; "
        "--format names an importer",
    )


def _draft(
    unread: Sequence[Unread], known: Mapping[str, Any]
) -> tuple[Path, Drafted] | None:
    """The first file of which a draft can be made, and the draft, with what is
    missing."""
    for item in [item for item in unread if is_data(item)][:_LOOKED_AT]:
        draft = drafted(item.path, known, is_alone=len(unread) == 1)
        if draft.why_not:
            return item.path, draft
    return None


def _texts(unread: Sequence[Unread]) -> str:
    """What to do with files of which nothing reads any, by their endings; empty if
    there are others."""
    endings = {item.path.suffix.lower() for item in unread}
    if not endings or not endings <= {*_TEXTS}:
        return ""
    names = " and ".join(sorted({_TEXTS[ending] for ending in endings}))
    return (
        f"tables are read from CSV, JSON, Parquet and workbooks, not from {names}: "
        "save as one of them what it holds (a row for each model or answer, a column "
        "for each figure), or name the file that it was made from; --map takes a "
        "mapping of it"
    )


def shaped_by(paths: Sequence[Path]) -> str:
    """The shipped mappings whose shape some files have, as an option."""
    from warehouse.importers.tabular.mapping_shapes import mappings_for

    names = chain.from_iterable(mappings_for(path) for path in paths[:_LOOKED_AT])
    return " or ".join(f"--map {name}" for name in dict.fromkeys(names))


def _broken(unread: Sequence[Unread]) -> str:
    """What is wrong with the first file that is meant to be JSON and is none."""
    from warehouse.importers.tabular.drafts.profile import why_unreadable
    from warehouse.importers.tabular.head_columns import why_no_table

    reasons = (
        why_unreadable(item.path) or why_no_table(item.path)
        for item in unread[:_LOOKED_AT]
    )
    return next(filter(None, reasons), "")


def _without_roles(unread: Sequence[Unread]) -> str:
    """What the first table lacks that says some of what is needed."""
    from warehouse.importers.tabular.head_columns import without_roles

    reasons = (without_roles(item.path) for item in unread[:_LOOKED_AT])
    text = " ".join(next(filter(None, reasons), "").split())
    if len(text) <= _LENGTH:
        return text
    return f"{text[: _LENGTH - 3]}..."


def archives_advice(unclaimed: Sequence[str]) -> str:
    """What to do about the archives among files that no importer knows; empty without
    any."""
    count = sum(Path(path).suffix.lower() in ARCHIVES for path in unclaimed)
    if not count:
        return ""
    return f"; {count} of them {'is' if count == 1 else 'are'} packed: unpack first{UNLESS}"
