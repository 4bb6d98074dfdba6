"""Models and scorers that only names of files or folders tell, as a starting mapping takes them:
where files beside one hold the same prompts, or the same answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path

from warehouse.importers.tabular.column_names import are_models, looks_like_model
from warehouse.importers.tabular.drafts.toml import safe, toml_text

#: Folders above a file that are looked at.
_FOLDERS = 3


@dataclass(frozen=True)
class NamedByPaths:
    """Where in the paths of some files a field of the run stands."""

    field: str  #: ``model`` or ``scorer``.
    glob: str  #: of the files.
    pattern: str
    names: tuple[str, ...]  #: those of the files that were looked at.

    def lines(self) -> Iterator[str]:
        """The section of a mapping."""
        shown = ", ".join(map(safe, self.names[:3]))
        same = "prompts" if self.field == "model" else "answers, scored otherwise"
        yield f"[path]  # files beside this one hold the same {same}: {shown}"
        yield f"pattern = '{self.pattern}'"
        yield ""


def scorers_in_paths(path: Path, others: Sequence[Path]) -> NamedByPaths | None:
    """Where the names of files tell who scored, of files that hold the same answers;
    None where they lie in several folders."""
    paths = [path.resolve(), *(other.resolve() for other in others)]
    if len(paths) < 2 or len({own.parent for own in paths}) > 1:
        return None
    return _in_names("scorer", paths)


def models_in_paths(path: Path, others: Sequence[Path]) -> NamedByPaths | None:
    """Where the names of files tell the model; None where they do not, or name anything
    else."""
    found = in_paths("model", path, others)
    if found is None or not are_models(found.names):
        return None
    return found


def in_paths(field: str, path: Path, others: Sequence[Path]) -> NamedByPaths | None:
    """Where the names of files, or those of the folders that they lie in, are another
    for each; None where there is one file."""
    paths = [path.resolve(), *(other.resolve() for other in others)]
    if len(paths) < 2:
        return None
    if len({own.parent for own in paths}) == 1:
        return _in_names(field, paths)
    up = 1
    while up < _FOLDERS and len({own.parts[-up - 1] for own in paths}) == 1:
        up += 1
    below = path.resolve().parts[-up:]
    folders = tuple(own.parts[-up - 1] for own in paths)
    pattern = f"(?P<{field}>[^/]+)/{'/'.join(map(re.escape, below))}"
    return NamedByPaths(field, f"*/{'/'.join(below)}", pattern, folders)


def _in_names(field: str, paths: Sequence[Path]) -> NamedByPaths:
    ending = _ending(paths[0].name)
    stems = [own.name.removesuffix(ending) for own in paths]
    start, end = _around(stems)
    names = [stem[len(start) : len(stem) - len(end)] for stem in stems]
    pattern = f"{re.escape(start)}(?P<{field}>[^/]+){re.escape(end + ending)}"
    return NamedByPaths(field, f"{start}*{end}{ending}", pattern, tuple(names))


def _around(stems: Sequence[str]) -> tuple[str, str]:
    """What all names begin and end with, up to an underscore, and is no part of the
    name of a model."""
    start = re.sub(r"[^_]*$", "", commonprefix(stems))
    backwards = commonprefix([stem[len(start) :][::-1] for stem in stems])
    end = re.sub(r"^[^_]*", "", backwards[::-1])
    if looks_like_model(start):
        start = ""
    if looks_like_model(end):
        end = ""
    return start, end


def _ending(name: str) -> str:
    """The suffix of a file, and that of its packing."""
    suffix = Path(name.removesuffix(".gz")).suffix
    return suffix + (".gz" if name.endswith(".gz") else "")


def asked_for_path(name: str) -> Iterator[str]:
    """The section of a mapping as a comment, where nothing tells the model."""
    ending = re.escape(safe(_ending(name)))
    yield (
        "# [path]  # what only names of files or folders tell; files = is then for all "
        "of them, as *.csv"
    )
    yield f"# pattern = '(?P<model>[^/]+){ending}'  # the file's name"
    yield f"# pattern = '(?P<model>[^/]+)/[^/]+{ending}'  # its folder's"
    yield ""


def glob_line(glob: str) -> str:
    """The line of a mapping that says which files it reads."""
    return f"files = [{toml_text(glob)}]  # globs; further files of this shape"
