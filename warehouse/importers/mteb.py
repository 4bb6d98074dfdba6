"""Importer of MTEB's results: published scores of embedding models; samples are not
stored anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import infer_step, source_of
from warehouse.importers.common.header_values import unix_time
from warehouse.importers.common.json_fields import (
    Row,
    first_text,
    no_objects,
    number_or_none,
    objects_of,
    part_of,
    require_model,
    text_or_none,
    texts_of,
    whole_or_none,
    without_empty,
)
from warehouse.importers.common.jsonl import has_keys, head_of, read_document
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = "mteb"
META = "model_meta.json"
MAIN = "main_score"
#: Folders that stand where the revision does and name none.
_NO_REVISION = ("no_revision_available", "no_revision")
#: Names of the task, which changed between versions.
_NAMES_OF_TASK = ("task_name", "mteb_dataset_name")
#: Objects of old files that hold metrics by the similarity they use; others hold those
#: of a language.
_SIMILARITIES = ("cos_sim", "euclidean", "manhattan", "dot", "max")
#: What old files, which do not say it, have as their main score: the first that is
#: there.
_MAIN_OF_OLD = (
    "ndcg_at_10",
    "v_measure",
    "accuracy",
    "map",
    "cos_sim.spearman",
    "cos_sim.ap",
    "f1",
)
_ERROR = "_stderr"
_NOT_METRICS = frozenset(
    ("hf_subset", "languages", "scores_per_experiment", "evaluation_time")
)


@dataclass(frozen=True)
class _Part:
    """Scores of one subset of one split."""

    split: str
    subset: str
    entry: Mapping[str, Any]


class Mteb:
    """``results/ORG__MODEL/REVISION/TASK.json``, with the ``model_meta.json`` beside
    it."""

    name = "mteb"
    version = "3"  # 2: arguments of experiments are no revision; 3: all settings
    folders = 4  # MODEL/REVISION/experiments/ARGUMENTS

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each task: what is damaged takes nothing from the others."""
        tasks: list[Path] = []
        meta: dict[Path, Path] = {}
        for item in candidates:
            if item.path.suffix != ".json":
                continue
            head = head_of(item)
            if item.path.name == META and has_keys(head, "name", "revision"):
                meta[item.path.parent] = item.path
            elif head.startswith("{") and has_keys(
                head, "dataset_revision", "mteb_version"
            ):
                tasks.append(item.path)
        for path in tasks:
            companions = []
            if path.parent in meta:
                companions = [meta[path.parent]]
            yield source_of(path, *companions)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one task (InputError: a file is damaged, holds no scores, or nothing
        names the model)."""
        path = source.files[0]
        document = read_document(path)
        about = {}
        if len(source.files) > 1:
            about = read_document(source.files[1])
        model = text_or_none(about.get("name")) or _named_by_folder(path)
        require_model(settings.model or model, str(path))
        parts = list(filter(_is_scored, _parts(document)))
        if not parts:
            raise InputError(
                "no scores",
                path=str(path),
                expected="'scores' of splits, as MTEB writes them",
            )
        scores = part_of(document, "scores").items()
        notes = list(
            chain.from_iterable(
                no_objects(own, f"{path.name}: scores.{split}") for split, own in scores
            )
        )
        return Dump(
            tuple(_headers(path, document, about, model or "", parts)), (), notes=notes
        )


def _named_by_folder(path: Path) -> str | None:
    """``org/model`` of the folder above the revision: it is part of the layout where it
    has ``__``."""
    folder = _revision_of(path)[0].parent.name
    if "__" in folder:
        return folder.replace("__", "/", 1)
    return None


def _revision_of(path: Path) -> tuple[Path, str | None]:
    """The folder of the revision, and the arguments by which results below
    ``experiments`` differ."""
    folder = path.parent
    if folder.parent.name == "experiments":
        return (folder.parent.parent, folder.name)
    return (folder, None)


def _parts(document: Row) -> Iterator[_Part]:
    """The scores of each split and subset, in the layout since 1.11 and in that before."""
    scores = document.get("scores")
    if isinstance(scores, dict):
        for split, entries in scores.items():
            for entry in objects_of(entries):
                yield _Part(
                    split, text_or_none(entry.get("hf_subset")) or "default", entry
                )
        return
    for split, content in document.items():
        if not isinstance(content, dict):
            continue
        languages = {
            key: item
            for key, item in content.items()
            if isinstance(item, dict) and key not in _SIMILARITIES
        }
        if languages:
            yield from (_Part(split, name, entry) for name, entry in languages.items())
        else:
            yield _Part(split, "default", content)


def _headers(
    path: Path, document: Row, about: Row, model: str, parts: Sequence[_Part]
) -> Iterator[RunHeader]:
    task = first_text(document, "task_name", "mteb_dataset_name") or path.stem
    revision, experiment = _revision_of(path)
    folder = revision.name
    seconds = number_or_none(document.get("date"))
    # of the oldest layout each object is the scores of a split
    scalars = {
        key: item for key, item in document.items() if not isinstance(item, dict)
    }
    stated = {key: item for key, item in scalars.items() if key not in _NAMES_OF_TASK}
    for part in parts:
        published = tuple(_published(part))
        default = _main_metric([item.metric for item in published])
        named = dict.fromkeys(item.metric for item in published)
        languages = texts_of(part.entry.get("languages"))
        yield RunHeader(
            harness=HARNESS,
            harness_version=first_text(part.entry, "mteb_version")
            or text_or_none(document.get("mteb_version")),
            model=model,
            sampling={"experiment_arguments": experiment} if experiment else {},
            parameter_count=whole_or_none(about.get("n_parameters")),
            revision=None if folder in _NO_REVISION else folder,
            step=infer_step(folder, model),
            benchmark=task if part.subset == "default" else f"{task}_{part.subset}",
            suite=() if part.subset == "default" else (task,),
            split=part.split,
            dataset_revision=text_or_none(document.get("dataset_revision")),
            metrics=tuple(
                _spec(task, name, name == default)
                for name in sorted(named, key=lambda name: name != default)
            ),
            started_at=None if seconds is None else unix_time(seconds),
            configuration=without_empty(
                {**stated, "model_meta": about, "languages": languages}
            ),
            published=published,
            place=path.name,
        )


def _main_metric(names: Sequence[str]) -> str | None:
    if {"f1", "precision", "recall"} <= set(names) and MAIN not in names:
        return "f1"  # pairs of sentences in two languages
    return next(
        (name for name in (MAIN, *_MAIN_OF_OLD) if name in names),
        next(iter(names), None),
    )


def _spec(task: str, name: str, is_default: bool) -> MetricSpec:
    """A metric; tasks of speed have seconds and shares, of which nobody says what is
    better."""
    higher = None if task.endswith("SpeedTask") or name.startswith("nauc_") else True
    return MetricSpec(name, link="none", higher_is_better=higher, is_default=is_default)


def _is_scored(part: _Part) -> bool:
    return any(True for _ in _published(part))


def _published(part: _Part) -> Iterator[PublishedScore]:
    """The figures, and those of each experiment: another draw of the training examples."""
    flat = dict(_flat(part.entry))
    for name, value in flat.items():
        if name.endswith(_ERROR) and name.removesuffix(_ERROR) in flat:
            continue
        error = number_or_none(flat.get(f"{name}{_ERROR}"))
        yield _figure(name, value, standard_error=error)
    for number, experiment in enumerate(
        objects_of(part.entry.get("scores_per_experiment")), start=1
    ):
        for name, value in _flat(experiment):
            yield _figure(name, value, statistic=f"experiment {number}")


def _flat(entry: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Numbers by name; those of a similarity behind its name. ``NaN`` is read as null:
    there was no number."""
    for name, value in entry.items():
        if name in _SIMILARITIES and isinstance(value, dict):
            yield from (
                (f"{name}.{inner}", number)
                for inner, number in value.items()
                if _is_number(number)
            )
        elif name not in _NOT_METRICS and _is_number(value):
            yield name, value


def _is_number(value: Any) -> bool:
    return value is None or (
        isinstance(value, int | float) and not isinstance(value, bool)
    )


def _figure(name: str, value: float | None, **more: Any) -> PublishedScore:
    """A figure; where there is none (all samples alike, say), that is said."""
    number = number_or_none(value)
    raw = None
    if number is None:
        raw = "no number"
    return PublishedScore(name, number, raw=raw, **more)


IMPORTER = Mteb()
