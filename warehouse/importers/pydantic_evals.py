"""Importer of evaluation reports of pydantic-evals, as
``EvaluationReportAdapter.dump_json`` writes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric, source_of
from warehouse.importers.common.json_fields import (
    Row,
    as_text,
    as_text_or_none,
    compact,
    first_text,
    items_of,
    number_or_none,
    object_of,
    objects_of,
    part_of,
    require_model,
    text_or_none,
    whole_count,
    without_empty,
)
from warehouse.importers.common.jsonl import (
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    RunHeader,
    SourceFiles,
)

HARNESS = "pydantic-evals"
#: How a report begins whose first case has inputs so long that all else stands behind
#: the head; data sets have a ``$schema`` before.
_BEGINS = re.compile(
    r'\{\s*"name"\s*:[^{[]*"cases"\s*:\s*\[\s*\{\s*"name"\s*:[^{[]*?"inputs"\s*:'
)
#: The evaluator that asks a model.
_JUDGE = "LLMJudge"
#: Task metrics that are fields of a generation.
_OWN_FIELD = ("input_tokens", "output_tokens", "cost")


class PydanticEvals:
    """One run for each report: assertions are right or wrong, scores and task metrics
    are numbers."""

    name = "pydantic_evals"
    version = "3"  # 2: all that a report says of the experiment is a setting; 3: so are the evaluators' arguments
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file is a source."""
        for item in candidates:
            head = head_of(item)
            has_cases = has_keys(
                head, "cases", "inputs", "assertions", "expected_output"
            )
            is_long = item.size > len(item.head) and _BEGINS.match(head)
            is_whole = has_cases or has_keys(
                head, "cases", "failures", "report_evaluator_failures"
            )
            if head.startswith("{") and (is_whole or is_long):
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one report (InputError: the file is damaged, or nothing names the
        model)."""
        path = source.files[0]
        report = read_document(path)
        listed = items_of(report.get("cases"))
        failures = items_of(report.get("failures"))
        cases = objects_of(listed)
        if not cases:
            raise InputError(
                "holds no case", path=str(path), expected="a report of pydantic-evals"
            )
        metrics = tuple(_metrics(cases))
        header = _header(report, metrics, settings, source.name)
        dump = Dump((header,), (), notes=list(_notes(cases, objects_of(failures))))
        names = [spec.name for spec in metrics]
        draws = Counter[str]()
        items = (
            (f"case {number + 1}", case)
            for number, case in enumerate([*listed, *failures])
        )
        dump.batches = batches_of(
            items,
            lambda case: [_row(case, names, draws)],
            dump.rejections,
            "a case as pydantic-evals writes it",
        )
        return dump


def _header(
    report: Row, metrics: tuple[MetricSpec, ...], settings: ImportSettings, name: str
) -> RunHeader:
    said = part_of(report, "experiment_metadata")
    model = first_text(said, "model", "model_name")
    require_model(settings.model or model, name)
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        benchmark=first_text(report, "dataset_name", "name") or "pydantic-evals",
        metrics=metrics,
        run_id=text_or_none(report.get("trace_id")),
        configuration={
            **{name: value for name, value in report.items() if name not in _OUTCOMES},
            "experiment_name": report.get("name"),
        },
    )


#: What stands in a report beside what says how it was made.
_OUTCOMES = frozenset(
    """
    name dataset_name cases failures analyses report_evaluator_failures averages
    """.split()
)


def _metrics(cases: Sequence[Row]) -> Iterator[MetricSpec]:
    def names(part: str) -> list[str]:
        return list(
            dict.fromkeys(chain.from_iterable(part_of(case, part) for case in cases))
        )

    asserted = names("assertions")
    for name in asserted:
        is_default = None
        if len(asserted) == 1:
            is_default = True
        yield binary_metric(
            name,
            scorer=name,
            is_default=is_default,
            **_evaluator(cases, "assertions", name),
        )
    for name in names("scores"):
        if name not in asserted:
            yield MetricSpec(name, scorer=name, **_evaluator(cases, "scores", name))
    taken = {*asserted, *names("scores"), *_OWN_FIELD}
    yield from (
        MetricSpec(name, is_default=False)
        for name in names("metrics")
        if name not in taken
    )


def _evaluator(cases: Sequence[Row], part: str, name: str) -> Row:
    """The evaluator that gave a score: class, arguments and version of the evaluator,
    where they are the same in all cases (a case may have evaluators of its own); of one
    that asks a model, which."""
    results = [
        part_of(part_of(case, part), name)
        for case in cases
        if name in part_of(case, part)
    ]
    said = [
        {"source": result.get("source"), "version": result.get("evaluator_version")}
        for result in results
    ]
    if any(other != said[0] for other in said):
        return {}
    source = part_of(said[0], "source")
    arguments = source.get("arguments")
    parameters = {
        "evaluator": source.get("name"),
        "arguments": arguments,
        "version": said[0]["version"],
    }
    found: Row = {"scorer_parameters": without_empty(parameters)}
    named = object_of(arguments)
    if source.get("name") == _JUDGE or "rubric" in named:
        found |= {
            "scorer_kind": "model",
            "judge_model": text_or_none(named.get("model")) or "",
        }
    return found


def _notes(cases: Sequence[Row], failures: Sequence[Row]) -> Iterator[str]:
    if failures:
        n = len(failures)
        failed = "task failed and is"
        if n > 1:
            failed = "tasks failed and are"
        yield f"{n} {failed} unscored, as in the report's own averages"
    labels = sorted(set(chain.from_iterable(part_of(case, "labels") for case in cases)))
    if labels:
        yield f"labels are no scores and are left out: {', '.join(labels[:10])}"


def _row(case: Any, metrics: Sequence[str], draws: Counter[str]) -> Row:
    if not isinstance(case, dict) or "inputs" not in case:
        raise ValueError(f"no inputs: {compact(case)[:200]}")
    name = first_text(case, "source_case_name", "name")
    target = case.get("expected_output")
    spent = part_of(case, "metrics")
    identity = compact({"inputs": case.get("inputs"), "target": target})
    key = name or identity
    draws[key] += 1
    failed = text_or_none(case.get("error_message"))
    output = case.get("output")
    metadata = case.get("metadata")
    return {
        "run": 0,
        "prompt_id": name,
        "identity": identity,
        "text": as_text(case.get("inputs")),
        "target": as_text_or_none(target),
        "metadata": compact(
            metadata if isinstance(metadata, dict) else {"metadata": metadata}
        )
        if metadata
        else None,
        "draw": draws[key] - 1,
        "response": as_text_or_none(output),
        "input_tokens": whole_count(spent.get("input_tokens")),
        "output_tokens": whole_count(spent.get("output_tokens")),
        "cost": number_or_none(spent.get("cost")),
        "latency": number_or_none(case.get("task_duration")),
        "error": failed,
        "explanation": _explanation(case),
        "scores": _scores(case, metrics),
    }


def _scores(case: Row, metrics: Sequence[str]) -> list[Row]:
    """Every metric of the report: what a case lacks, because task or evaluator failed,
    is unscored."""
    values: dict[str, Any] = dict(part_of(case, "metrics"))
    for part in ("scores", "assertions"):
        values |= {
            name: item.get("value")
            for name, item in part_of(case, part).items()
            if isinstance(item, dict)
        }
    return [
        {"metric": name, "value": number_or_none(values.get(name))} for name in metrics
    ]


def _explanation(case: Row) -> str | None:
    parts = [
        *part_of(case, "assertions").items(),
        *part_of(case, "scores").items(),
    ]
    reasons = [
        f"{name}: {item['reason']}"
        for name, item in parts
        if isinstance(item, dict) and item.get("reason")
    ]
    reasons += [
        f"{failure.get('name')}: {failure.get('error_message')}"
        for failure in objects_of(case.get("evaluator_failures"))
    ]
    return "\n".join(reasons) or None


IMPORTER = PydanticEvals()
