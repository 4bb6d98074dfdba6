"""Importer of test runs of DeepEval (``.deepeval/.latest_run_full.json``,
``test_run_<time>.json``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric, source_of
from warehouse.importers.common.json_fields import (
    Row,
    as_text,
    as_text_or_none,
    compact,
    first_text,
    items_of,
    number_in_text,
    number_or_none,
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
from warehouse.importers.common.transcripts import transcript_of
from warehouse.importers.common.unread_verdicts import UnreadVerdicts
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = "deepeval"
#: Whether all metrics of a case passed: what DeepEval counts.
SUCCESS = "success"
#: Kinds of cases, and what is asked in them.
_CASES = ("testCases", "conversationalTestCases")
#: How a file begins whose first case has contexts so long that its metrics stand behind
#: the head.
_BEGINS = re.compile(
    r'\{\s*(?:"testFile"\s*:\s*"[^"]*"\s*,\s*)?"testCases"\s*:\s*\[\s*\{\s*"name"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"input"'
)
#: Hyperparameters by which people name the model.
_MODEL = ("model", "model_name", "llm", "model name")


#: Parts of a test run that are outcomes or names, or read elsewhere.
_NOT_SETTINGS = frozenset(
    """
    testCases conversationalTestCases metricsScores traceMetricsScores testPassed testFailed hyperparameters
    datasetAlias identifier prompts
    """.split()
)


class DeepEval:
    """One run for each file, one metric for each of DeepEval's and ``success`` for all
    of them."""

    name = "deepeval"
    version = "3"  # 2: seconds, tokens and cost of the answer; 3: all settings
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file is a source."""
        for item in candidates:
            head = head_of(item)
            is_whole = (
                has_keys(head, "testCases")
                and "metricsData" in head
                and "success" in head
            )
            if (
                head.startswith("{")
                and is_whole
                or (item.size > len(item.head) and _BEGINS.match(head))
            ):
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: the file is damaged, or model or benchmark are
        named nowhere)."""
        path = source.files[0]
        document = read_document(path)
        cases = list(
            chain.from_iterable(items_of(document.get(kind)) for kind in _CASES)
        )
        if not cases:
            raise InputError(
                "holds no test case", path=str(path), expected="a test run of DeepEval"
            )
        dump = Dump((_header(document, objects_of(cases), settings, source.name),), ())
        items = ((f"case {number + 1}", case) for number, case in enumerate(cases))
        dump.batches = _batches(items, dump)
        return dump


def _batches(items: Iterable[tuple[str, Any]], dump: Dump) -> Iterator[pa.RecordBatch]:
    unread = UnreadVerdicts("DeepEval")

    def rows_of(case: Any) -> list[Row]:
        row = _row(case)
        unread.add(SUCCESS, row["scores"][0]["value"], _is_unread(case))
        return [row]

    yield from batches_of(
        items, rows_of, dump.rejections, "a case with metricsData as DeepEval writes it"
    )
    dump.notes += unread.notes()


def _is_unread(case: Row) -> bool:
    """True if a case fails by nothing but metrics that broke off with an error."""
    failed = [
        item
        for item in objects_of(case.get("metricsData"))
        if item.get("success") is not True
    ]
    return bool(failed) and all(
        item.get("error") and number_or_none(item.get("score")) is None
        for item in failed
    )


def _header(
    document: Row, cases: Sequence[Row], settings: ImportSettings, name: str
) -> RunHeader:
    chosen = part_of(document, "hyperparameters")
    model = first_text(chosen, *_MODEL)
    naming = next((name for name in _MODEL if text_or_none(chosen.get(name))), "model")
    stated = {
        name: item for name, item in document.items() if name not in _NOT_SETTINGS
    }
    benchmark = text_or_none(document.get("datasetAlias"))
    has_model = bool(settings.model or model)
    if not (benchmark or settings.user_values.get("benchmark")):
        raise InputError(
            "nothing here names what was "
            f"tested{'' if has_model else ', nor the model'}",
            path=name,
            expected="datasetAlias in the test run",
            advice=(
                "give the name with --default "
                f"benchmark=NAME{'' if has_model else ' --default model=ORG/NAME'}"
            ),
        )
    require_model(settings.model or model, name)
    passed, failed = (
        whole_count(document.get(key)) for key in ("testPassed", "testFailed")
    )
    published = None
    if passed is not None and failed is not None and passed + failed > 0:
        published = PublishedScore(SUCCESS, passed / (passed + failed))
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        benchmark=benchmark or "",
        temperature=number_in_text(chosen.get("temperature")),
        sampling={
            key: value
            for key, value in chosen.items()
            if key not in (naming, "temperature")
        },
        configuration=without_empty(
            {
                **stated,
                "run_name": document.get("identifier"),
                "prompts": sorted(items_of(document.get("prompts")), key=compact),
            }
        ),
        metrics=(binary_metric(SUCCESS, is_default=True), *_metrics(cases)),
        published=(published,) if published else (),
    )


def _metrics(cases: Sequence[Row]) -> Iterator[MetricSpec]:
    results: dict[str, list[Row]] = {}
    for case in cases:
        for item in objects_of(case.get("metricsData")):
            results.setdefault(str(item.get("name")), []).append(item)
    for name, items in results.items():
        judge = next(
            (
                text
                for item in items
                if (text := text_or_none(item.get("evaluationModel")))
            ),
            None,
        )
        yield MetricSpec(
            name,
            scorer=name,
            scorer_kind="model" if judge else "match",
            judge_model=judge or "",
            scorer_parameters=without_empty(
                {key: items[0].get(key) for key in ("threshold", "strictMode")}
            ),
            higher_is_better=_direction(items),
            is_default=False,
        )


def _direction(items: Iterable[Mapping[str, Any]]) -> bool | None:
    """True if passing means to reach the threshold, not to stay below it; None where the
    cases do not tell."""
    ways = set()
    for item in items:
        score = number_or_none(item.get("score"))
        threshold = number_or_none(item.get("threshold"))
        if score is not None and threshold is not None and score != threshold:
            ways.add((score > threshold) == (item.get("success") is True))
    if len(ways) == 1:
        return ways.pop()
    return None


def _row(case: Any) -> Row:
    if not isinstance(case, dict) or not isinstance(case.get("metricsData"), list):
        raise ValueError(f"no metricsData: {compact(case)[:200]}")
    turns = objects_of(case.get("turns"))
    asked = case.get("input")
    if turns:  # what the model said is no part of the question
        asked = case.get("scenario") or [
            turn.get("content") for turn in turns if turn.get("role") == "user"
        ]
    target = case.get("expectedOutput", case.get("expectedOutcome"))
    name = text_or_none(case.get("name"))
    unnamed = name is None or name.startswith(
        ("test_case_", "conversational_test_case_")
    )
    context = without_empty(
        {key: case.get(key) for key in ("context", "retrievalContext")}
    )
    said = [turn.get("content") for turn in turns if turn.get("role") == "assistant"]
    answer = said[-1] if said else case.get("actualOutput")
    return {
        "run": 0,
        "position": whole_count(case.get("order")),
        "prompt_id": None if unnamed else name,
        "identity": compact(
            {
                "input": asked,
                "target": target,
                **without_empty({"user": case.get("userDescription")}),
                **context,
            }
        ),
        "text": as_text(asked),
        "target": as_text_or_none(target),
        "metadata": compact({**part_of(case, "metadata"), **context}),
        "response": as_text_or_none(answer),
        "input_tokens": whole_count(case.get("inputTokenCount")),
        "output_tokens": whole_count(case.get("outputTokenCount")),
        "latency": number_or_none(
            case.get("completionTime")
        ),  # runDuration is that of the metrics
        "cost": number_or_none(case.get("tokenCost")),
        "explanation": _explanation(case),
        "scores": _scores(case),
        "transcript": transcript_of(turns, says_errors=False) if turns else None,
    }


def _scores(case: Row) -> list[Row]:
    success = case.get("success")
    value = None
    if isinstance(success, bool):
        value = float(success)
    scores = [
        {
            "metric": SUCCESS,
            "value": value,
        }
    ]
    return scores + [
        {"metric": str(item.get("name")), "value": number_or_none(item.get("score"))}
        for item in objects_of(case.get("metricsData"))
    ]


def _explanation(case: Row) -> str | None:
    reasons = {
        str(item.get("name")): reason
        for item in objects_of(case.get("metricsData"))
        if (reason := first_text(item, "error", "reason"))
    }
    told = [f"{name}: {reason}" for name, reason in reasons.items()]
    return "\n".join(told) or None


IMPORTER = DeepEval()
