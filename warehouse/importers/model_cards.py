"""Importer of what models of the Hugging Face Hub say of themselves: the ``model-index``
of a model card (``README.md``), and files of ``.eval_results/``. Published figures;
samples are not stored there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    Row,
    number_in_text,
    object_of,
    objects_of,
    part_of,
    require_model,
    text_or_none,
    whole_count,
    without_empty,
)
from warehouse.importers.common.jsonl import head_of
from warehouse.importers.common.yaml_text import read_front_matter, read_yaml
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = "model_cards"
_INDEX = re.compile(r"^model-index:", re.MULTILINE)
#: Keys of an entry of ``.eval_results/``, all of which every entry has.
_OF_ENTRIES = (
    re.compile(r"^- +dataset:", re.MULTILINE),
    re.compile(r"^ +(?:- +)?task_id:", re.MULTILINE),
    re.compile(r"^(?:- +| +)value:", re.MULTILINE),
)
_SPREAD = re.compile(r"\s*(?:±|\+/-).*")
#: Words in names of metrics of which more, or less, is better.
_HIGHER = frozenset(
    "accuracy acc f1 precision recall exact em match bleu rouge rouge1 rouge2 rougel "
    "meteor map mrr ndcg mcc pearson spearman auc pass".split()
)
_LOWER = frozenset("loss perplexity ppl wer cer error mse mae rmse fid ter".split())
#: Names of a configuration that say nothing.
_NO_CONFIGURATION = (None, "default", "all", "main")
_SHOTS = "num_few_shot"


class ModelCards:
    """``README.md`` with a ``model-index``, and YAML of ``.eval_results/``: a source
    each."""

    name = "model_cards"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each card and file of results."""
        for item in candidates:
            suffix = item.path.suffix.lower()
            if suffix not in (".md", ".yaml", ".yml"):
                continue
            head = head_of(item)
            is_card = suffix == ".md" and head.startswith("---") and _INDEX.search(head)
            is_result = suffix != ".md" and all(key.search(head) for key in _OF_ENTRIES)
            if is_card or is_result:
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: it is damaged, states no figure, or nothing names
        the model)."""
        path = source.files[0]
        dump = Dump((), ())
        if path.suffix.lower() == ".md":
            entries = _entries_of_card(object_of(read_front_matter(path)), dump.notes)
        else:
            entries = _entries_of_results(read_yaml(path))
        runs: dict[str, RunHeader] = {}
        for header, figure in entries:
            require_model(settings.model or header.model, str(path))
            key = repr((header.model, header.benchmark, header.split, header))
            known = runs.setdefault(key, header)
            runs[key] = _with_figure(known, figure, dump.notes)
        if not any(run.published for run in runs.values()):
            raise InputError(
                "states no figure",
                path=str(path),
                expected="results with a data set and a value, as the Hub reads them",
            )
        dump.runs = tuple(runs.values())
        return dump


def _with_figure(run: RunHeader, figure: PublishedScore, notes: list[str]) -> RunHeader:
    """A run with one more figure; of two that contradict each other the first."""
    for other in run.published:
        if other.metric != figure.metric:
            continue
        if other.value != figure.value:
            notes.append(
                f"{run.model} on {run.benchmark}: {figure.metric} is {other.value}, and "
                f"{figure.value} where it stands again; the first counts"
            )
        return run
    metric = MetricSpec(
        figure.metric,
        link="none",
        higher_is_better=_direction(figure.metric),
        is_default=not run.published,
    )
    return replace(
        run,
        metrics=(*run.metrics, metric),
        published=(*run.published, figure),
    )


def _direction(metric: str) -> bool | None:
    """True where more is better, False where less is; None where the name does not
    say."""
    words = set(re.split(r"[^a-z0-9]+", metric.lower()))
    if words & _LOWER:
        return False
    if words & _HIGHER:
        return True
    return None


# --- model cards ------------------------------------------------------------------------

_Stated = Iterator[tuple[RunHeader, PublishedScore]]


def _entries_of_card(document: Row, notes: list[str]) -> _Stated:
    """The figures of a model-index, each with the run that it is of."""
    for model in objects_of(document.get("model-index")):
        name = text_or_none(model.get("name"))
        for result in objects_of(model.get("results")):
            yield from _entries_of_result(name or "", result, notes)


def _entries_of_result(model: str, result: Row, notes: list[str]) -> _Stated:
    dataset = part_of(result, "dataset")
    benchmark = _benchmark(dataset)
    for metric in objects_of(result.get("metrics")):
        name = text_or_none(metric.get("type")) or text_or_none(metric.get("name"))
        if benchmark is None or name is None:
            notes.append(f"a result of {model} without a data set or a metric")
            continue
        figure = _figure(name, metric.get("value"))
        if figure.value is None:
            notes.append(f"{model} on {benchmark}: {name} is no number: {figure.raw}")
            continue
        yield _header_of_result(model, benchmark, result, metric), figure


def _benchmark(dataset: Row) -> str | None:
    """The data set with its configuration (``glue_sst2``)."""
    name = text_or_none(dataset.get("type")) or text_or_none(dataset.get("name"))
    configuration = text_or_none(dataset.get("config"))
    if name is None or configuration in _NO_CONFIGURATION:
        return name
    return f"{name}_{configuration}"


def _header_of_result(
    model: str, benchmark: str, result: Row, metric: Row
) -> RunHeader:
    dataset = part_of(result, "dataset")
    arguments = part_of(dataset, "args")
    others = {name: value for name, value in arguments.items() if name != _SHOTS}
    source = part_of(result, "source")
    stated = {
        "task": part_of(result, "task").get("type"),
        "dataset": {"args": others},
        "metric": {"args": metric.get("args"), "config": metric.get("config")},
        "verified": metric.get("verified"),
        "source": {"name": source.get("name"), "url": source.get("url")},
    }
    return RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=benchmark,
        split=text_or_none(dataset.get("split")) or "",
        dataset_revision=text_or_none(dataset.get("revision")),
        fewshot=_whole(arguments.get(_SHOTS)),
        configuration=_without_gaps(stated),
    )


def _figure(metric: str, value: Any) -> PublishedScore:
    """A figure as it is stated, a text: ``76.1``, or ``76.1 ± 0.4``, of which nobody says
    what the second number is."""
    text = str(value).strip()
    number = number_in_text(_SPREAD.sub("", text))
    if number is None:
        return PublishedScore(metric, None, raw=text[:200])
    return PublishedScore(metric, number)


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return whole_count(value)


def _without_gaps(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, without empty objects."""
    inner = {
        name: without_empty(value) if isinstance(value, dict) else value
        for name, value in stated.items()
    }
    return without_empty(inner)


# --- .eval_results ----------------------------------------------------------------------


def _entries_of_results(document: Any) -> _Stated:
    """The figures of a file of ``.eval_results/``, which names no model and no
    metric."""
    for entry in objects_of(document):
        dataset = part_of(entry, "dataset")
        name = text_or_none(dataset.get("id"))
        task = text_or_none(dataset.get("task_id"))
        if name is None:
            continue
        benchmark = name
        suite: tuple[str, ...] = ()
        if task not in _NO_CONFIGURATION:
            benchmark, suite = str(task), (name,)
        date = text_or_none(entry.get("date"))
        source = part_of(entry, "source")
        stated = {
            "notes": entry.get("notes"),
            "source": {"name": source.get("name"), "url": source.get("url")},
        }
        yield (
            RunHeader(
                harness=HARNESS,
                model="",
                benchmark=benchmark,
                suite=suite,
                dataset_revision=text_or_none(dataset.get("revision")),
                started_at=None if date is None else moment(date),
                configuration=_without_gaps(stated),
            ),
            _figure("score", entry.get("value")),
        )


IMPORTER = ModelCards()
