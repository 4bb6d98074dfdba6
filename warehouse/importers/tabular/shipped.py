"""Mappings that come with the program, by name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from warehouse.errors import MisuseError, did_you_mean
from warehouse.importers.common.globs import glob_matches
from warehouse.importers.tabular.mistakes import is_shaped_for
from warehouse.importers.tabular.parse_mapping import parse_mapping
from warehouse.importers.tabular.sections import load_mapping


def shipped_mappings() -> dict[str, Path]:
    """The files of the mappings for published dumps, by name."""
    paths = (Path(str(item)) for item in files("warehouse.mappings").iterdir() if item.name.endswith(".toml"))
    return {path.stem: path for path in sorted(paths)}


def describe_mapping(path: Path) -> str:
    """The first sentence of the comment that a mapping begins with."""
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("#").strip()
        if not line.startswith("#") or not text:
            break
        words += text.split()
    comment = " ".join(words)
    return comment.partition(". ")[0].rstrip(".:")


def mapping_file(given: str | Path) -> Path:
    """The file that a path, or the name of a shipped mapping, stands for; a file that is there goes first.

    Raises:
        MisuseError: a word that is neither. A path is given back as it is, whether or not a file is there.
    """
    path = Path(given)
    if path.is_file() or path.suffix or len(path.parts) != 1:
        return path
    known = shipped_mappings()
    if str(given) not in known:
        hint = did_you_mean(str(given), known, "names of those that are: warehouse mapping --list")
        raise MisuseError(f"there is no file '{given}', and no mapping of that name is shipped; {hint}")
    return known[str(given)]


def mappings_for(path: Path) -> list[str]:
    """Names of the shipped mappings whose columns, fields and places a file has."""
    parsed = {name: parse_mapping(load_mapping(file), name)[0] for name, file in shipped_mappings().items()}
    return [name for name, mapping in parsed.items() if is_shaped_for(mapping, path)]


def named_by_others(path: Path, but: Path) -> bool:
    """Whether the ``files`` of another shipped mapping name a file: it is of another dump then.

    Args:
        path: of the file, absolute.
        but: the mapping that is asked for, which does not count.
    """
    return any(
        glob_matches(glob, path)
        for file, globs in _globs().items()
        if file != but
        for glob in globs
        if "/" in glob  # one of a suffix alone says nothing
    )


@cache
def _globs() -> dict[Path, tuple[str, ...]]:
    return {file: tuple(load_mapping(file).get("files", ())) for file in shipped_mappings().values()}
