"""Importer of submissions to the leaderboard of tau2-bench: published pass^k of each
domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import TASK_COST, binary_metric, source_of
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    Row,
    number_or_none,
    object_of,
    part_of,
    share_of,
    text_or_none,
    without_nulls,
)
from warehouse.importers.common.jsonl import RowSource, has_keys, head_of, read_document
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    PublishedScore,
    Rejection,
    RunHeader,
    SourceFiles,
)

HARNESS = "tau2_bench"
METRIC = "success"
KEYS = ("model_name", "submitting_organization", "results", "methodology")
SUCCESS = binary_metric(METRIC, scorer_kind="execution", is_default=True)
_PASSES = tuple(f"pass_{k}" for k in range(1, 33))

#: What stands in fields of the header, persons, and figures.
_READ = frozenset(
    """
    submission model_name reasoning_effort submission_type modality results interaction_metrics contact_info
    """.split()
)
_READ_OF_METHOD = frozenset({"tau2_bench_version", "user_simulator"})
_READ_OF_DOMAIN = frozenset({*_PASSES, "cost", "retrieval_config"})


class Tau2Bench:
    """``submission.json`` in the folder of a submission, or many of them as JSON
    lines."""

    name = "tau2_bench"
    version = "2"  # 2: all that a submission says of how it was made is a setting
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each file."""
        for item in candidates:
            is_named = (
                item.path.name == "submission.json" or item.path.suffix == ".jsonl"
            )
            if is_named and has_keys(head_of(item), *KEYS[:3], "pass_1"):
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: it is damaged, or names no model)."""
        path = source.files[0]
        dump = Dump((), ())
        if path.suffix == ".json":
            dump.runs = tuple(_headers(path, path.parent.name, read_document(path)))
        else:
            dump.runs = tuple(_listed(path, dump))
        if not dump.runs:
            raise InputError(
                "no results",
                path=str(path),
                expected="submissions to tau2-bench with results of domains",
            )
        return dump


def _listed(path: Path, dump: Dump) -> Iterator[RunHeader]:
    """The runs of all submissions of a file; a line that is none is recorded."""
    source = RowSource(path, path.name, KEYS, dump.rejections, dump.notes)
    for line, row in source.numbered():
        try:
            yield from _headers(
                path, text_or_none(row.get("submission")) or f"line {line}", row
            )
        except InputError as error:
            dump.rejections.append(
                Rejection(f"{path.name} line {line}", str(error)[:200], "a submission")
            )


def _headers(path: Path, name: str, document: Row) -> Iterator[RunHeader]:
    """A run for each domain. ``contact_info`` is left out: it is about persons."""
    model = text_or_none(document.get("model_name"))
    if model is None:
        raise InputError(
            "no 'model_name'", path=str(path), expected="a submission to tau2-bench"
        )
    method = part_of(document, "methodology")
    kind = document.get("submission_type")
    modality = document.get("modality")
    version = _version(method.get("tau2_bench_version"))
    for domain, result in part_of(document, "results").items():
        row = object_of(result)
        published = tuple(_published(row))
        if not published:
            continue  # not evaluated
        setup = {
            "user_simulator": text_or_none(method.get("user_simulator")),
            "retrieval_config": text_or_none(row.get("retrieval_config")),
            "submission_type": None if kind == "standard" else text_or_none(kind),
            "modality": None if modality == "text" else text_or_none(modality),
        }
        yield RunHeader(
            harness=HARNESS,
            harness_version=version,
            model=model,
            developer=text_or_none(document.get("model_organization")),
            benchmark=f"{HARNESS}_{domain}",
            suite=(HARNESS,),
            # tasks and graders are those of the version: banking_knowledge was graded
            # anew for 1.0.1
            task_version=version,
            agent_parameters=without_nulls(setup),
            reasoning_effort=text_or_none(document.get("reasoning_effort")),
            metrics=(SUCCESS, TASK_COST)
            if any(item.metric == TASK_COST.name for item in published)
            else (SUCCESS,),
            run_id=name,
            started_at=moment(method.get("evaluation_date"))
            or moment(document.get("submission_date")),
            configuration=_configuration(document, domain, row),
            note=text_or_none(method.get("notes")),
            published=published,
            place=f"{name}/{domain}",
        )


def _configuration(document: Row, domain: str, result: Row) -> Row:
    """Settings of a submission, for one of its domains, without
    figures and what is read by itself."""
    submission = {name: value for name, value in document.items() if name not in _READ}
    submission["methodology"] = {
        name: value
        for name, value in part_of(document, "methodology").items()
        if name not in _READ_OF_METHOD
    }
    measuring = part_of(document, "interaction_metrics").get("config")
    if measuring:
        submission["interaction_metrics"] = {"config": measuring}
    rest = {
        name: value for name, value in result.items() if name not in _READ_OF_DOMAIN
    }
    if rest:
        submission["results"] = {domain: rest}
    return {"submission": submission}


def _version(version: Any) -> str | None:
    """A version; ``v0.1.3`` is ``0.1.3``, as others write it."""
    text = text_or_none(version)
    if text and text[0] == "v" and text[1:2].isdigit():
        return text[1:]
    return text


def _published(row: Row) -> Iterator[PublishedScore]:
    """pass^k as shares; files hold percent, and null for what was not run."""
    for k, key in enumerate(_PASSES, start=1):
        value: Any = row.get(key)
        if isinstance(value, bool):
            number = None
        else:
            number = number_or_none(value)
        if number is not None:
            if k == 1:
                statistic = "mean"
            else:
                statistic = f"pass^{k}"
            yield PublishedScore(
                METRIC,
                share_of(number),
                statistic=statistic,
                raw=f"{number:.15g} percent",
            )
    cost = number_or_none(row.get("cost"))
    if cost:  # 0 is written where nothing is known
        yield PublishedScore(TASK_COST.name, cost)


IMPORTER = Tau2Bench()
