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
    paths = [path.resolve(), *(other.resolve() for other in others)]
    if len(paths) < 2:
        return None
    if len({own.parent for own in paths}) == 1:
        found = _in_names("model", paths)
        return found if are_models(found.names) else None
    models = [own.parent.name for own in paths]
    if not are_models(models):
        return None
    file = re.escape(path.name)
    pattern = f"(?P<model>[^/]+)/{file}"
    return NamedByPaths("model", f"*/{path.name}", pattern, tuple(models))


@dataclass(frozen=True)
class UnnamedFiles:
    """Files side by side of which only their names can tell what each is, and do not
    say it: of the same prompts, or with figures of the same models."""

    field: str  #: what the files are if one reading holds: ``model``, ``benchmark``.
    glob: str  #: of the files.
    pattern: str  #: of their paths, with a group of that name.
    names: tuple[str, ...]  #: what tells them apart, of those that were looked at.

    @property
    def _shown(self) -> str:
        return ", ".join(map(safe, self.names[:3]))

    @property
    def question(self) -> str:
        """What the files are, with its readings."""
        if self.field == "benchmark":
            return (
                f"what the files are, which state figures of the same models "
                f"({self._shown}): (1) benchmarks, by the names of files or folders; "
                "(2) parts, ways to ask or times of one benchmark; (3) prompts, a file "
                "each"
            )
        return (
            f"what the files are, which hold the same prompts ({self._shown}): (1) "
            "models, by the names of files or folders; (2) runs of one model, a figure "
            "each; (3) generations of one model, pooled"
        )

    def lines(self) -> Iterator[str]:
        """The readings as comments of a mapping."""
        files = f"files = [{toml_text(self.glob)}]"
        run = self.pattern.replace(f"<{self.field}>", "<file>")
        if self.field == "benchmark":
            yield f"# files beside this one state figures of the same models: {self._shown}"
            apart = "parts, ways to ask or times of one benchmark"
        else:
            yield f"# files beside this one hold the same prompts: {self._shown}"
            apart = "runs of one model"
        yield f"#   {self.field}s: {files}, and [path] pattern = '{self.pattern}'"
        yield f"#   {apart}: {files}, and [path] pattern = '{run}',"
        yield '#     [run.configuration] file = { group = "file" }'
        if self.field == "model":
            yield f"#   generations of one model, pooled: {files}"
        else:
            yield '#   prompts: the same [path], [sample] prompt_id = { group = "file" },'
            yield "#     and [[scores]] for [[published]]"
        yield ""


def unnamed_files(
    field: str, path: Path, others: Sequence[Path]
) -> UnnamedFiles | None:
    """What files are left open by their names; None where there is one file.

    Args:
        field: what they are if one reading holds, ``model`` or ``benchmark``.
    """
    paths = [path.resolve(), *(other.resolve() for other in others)]
    if len(paths) < 2:
        return None
    if len({own.parent for own in paths}) == 1:
        found = _in_names(field, paths)
        return UnnamedFiles(field, found.glob, found.pattern, found.names)
    folders = tuple(own.parent.name for own in paths)
    pattern = f"(?P<{field}>[^/]+)/{re.escape(path.name)}"
    return UnnamedFiles(field, f"*/{path.name}", pattern, folders)


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
