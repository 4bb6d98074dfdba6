"""Importer of OpenCompass: predictions and results of one model on one data set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.importers.common.documents import unpacked_head
from warehouse.importers.opencompass.files import Work
from warehouse.importers.opencompass.header import header
from warehouse.importers.opencompass.rows import batches
from warehouse.importers.opencompass.summary import read_summary
from warehouse.importers.opencompass.table import HEADING, is_summary
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles

_PART = re.compile(r"(.+)_(\d+)")
_STAMP = re.compile(r"\d{8}_\d{6}")
_ROW = re.compile(r'"(?:prediction|origin_prompt|testing input)"\s*:')
_FIRST = re.compile(r'\{\s*"\d+"\s*:\s*\{')


@dataclass
class _Folder:
    """Files of one model in one work folder, by what they are and by data set."""

    predictions: dict[str, Path] = field(default_factory=dict)
    results: dict[str, Path] = field(default_factory=dict)
    unfinished: dict[str, Path] = field(default_factory=dict)

    def sources(self) -> dict[str, list[Path]]:
        """Files of each data set: results, then predictions, parts in order."""
        paths_by_dataset = {name: [path] for name, path in self.results.items()}
        for name, path in self.predictions.items():
            paths_by_dataset.setdefault(self._whole(name), []).append(path)
        for name, path in self.unfinished.items():
            if not any(item.parent.parent.name == "predictions" for item in paths_by_dataset.get(name, [])):
                paths_by_dataset.setdefault(name, []).append(path)
        return paths_by_dataset

    def _whole(self, name: str) -> str:
        """The data set of a file that may be one of several parts."""
        part = _PART.fullmatch(name)
        if part is None or name in self.results or part[1] in self.predictions:
            return name
        return part[1] if f"{part[1]}_0" in self.predictions else name


class OpenCompass:
    """Files under ``predictions/MODEL/`` and ``results/MODEL/`` of a work folder, its summary."""

    name = "opencompass"
    version = "2"
    folders = 4

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each model and data set, one for the summary; the folder's configuration
        goes with all, the summary too."""
        folders: dict[tuple[Path, str], _Folder] = {}
        configs: dict[Path, Path] = {}
        summaries: dict[Path, Path] = {}
        for item in candidates:
            path = item.path
            work = path.parent.parent.parent
            if path.suffix == ".py" and path.parent.name == "configs":
                configs[path.parent.parent] = path  # the last one is the newest
            elif _is_summary(item):
                _keep_newest(summaries, path)
            elif kind := _kind(item):
                folder = folders.setdefault((work, path.parent.name), _Folder())
                name = path.stem.removeprefix("tmp_") if kind == "unfinished" else path.stem
                getattr(folder, kind)[name] = path
        for (work, _), folder in folders.items():
            beside = [known[work] for known in (summaries, configs) if work in known]
            for paths in folder.sources().values():
                if _known(work, paths):
                    yield SourceFiles(str(paths[0]), work, (*_ordered(paths), *beside))
        for work, path in summaries.items():
            config = [configs[work]] if work in configs else []
            yield SourceFiles(str(path), work, (path, *config))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open the files of one data set.

        Raises:
            InputError: a file is damaged.
        """
        if is_summary(source.files[0]):
            return read_summary(source)
        work = Work(source.root, source.files)
        return Dump((header(work),), batches(work), (), work.rejections, work.notes)


def _is_summary(candidate: Candidate) -> bool:
    head = unpacked_head(candidate)
    begins = HEADING if candidate.path.suffix == ".csv" else ""
    return is_summary(candidate.path) and head.startswith(begins) and HEADING in head


def _keep_newest(summaries: dict[Path, Path], path: Path) -> None:
    """Of several summaries the newest counts, and the table rather than the text."""
    work = path.parent.parent
    known = summaries.get(work)
    order = (path.stem, path.suffix == ".csv")
    if known is None or order > (known.stem, known.suffix == ".csv"):
        summaries[work] = path


def _kind(candidate: Candidate) -> str:
    """What a file is by its folder, its name and its first bytes; empty: none of ours."""
    path = candidate.path
    folder = path.parent.parent.name
    head = unpacked_head(candidate)
    if not head.startswith("{") or folder not in ("predictions", "results"):
        return ""
    if folder == "results":
        return "results" if path.suffix == ".json" else ""
    if path.suffix == ".jsonl" and path.name.startswith("tmp_"):
        return "unfinished" if '"idx"' in head else ""
    is_ours = path.suffix == ".json" and _FIRST.match(head) and _ROW.search(head)
    return "predictions" if is_ours else ""


def _known(work: Path, paths: Sequence[Path]) -> bool:
    """Whether files are OpenCompass's: results alone need the name of a work folder above them."""
    alone = all(path.parent.parent.name == "results" for path in paths)
    return not alone or _STAMP.fullmatch(work.name) is not None


def _ordered(paths: Sequence[Path]) -> list[Path]:
    def number(path: Path) -> int:
        part = _PART.fullmatch(path.stem)
        return int(part[2][:9]) if part else -1

    return sorted(paths, key=lambda path: (path.parent.parent.name != "results", number(path)))


IMPORTER = OpenCompass()
