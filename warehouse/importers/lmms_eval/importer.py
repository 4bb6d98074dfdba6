"""Importer of lmms-eval: results, samples, or both of one time stamp."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    Row,
    as_text,
    compact,
    item_at,
    items_of,
    objects_of,
    require_model,
    response_pair,
    text_of_any,
    whole_count,
    whole_or_none,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.importers.lmms_eval.results import (
    Results,
    Seen,
    input_text,
    label_of,
    measured,
    scalar_of,
)
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    Rejection,
    RunHeader,
    SourceFiles,
)

# 20260102_030405_results.json, 20260102_030405_samples_mme.jsonl   the time stands
# first
_NAME = re.compile(
    r"(?P<stamp>\d{8}_\d{6})_(?:results\.json|samples_(?P<task>.+)\.jsonl)", re.DOTALL
)
_KEYS = ("doc_id",)


class LmmsEval:
    """``<time>_results.json`` with its ``<time>_samples_<task>.jsonl``; either may be
    missing."""

    name = "lmms_eval"
    version = "2"  # 2: all settings
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Files of one folder and time stamp are one source, the results first."""
        stamped = defaultdict[tuple[Path, str], list[Path]](list)
        for item in candidates:
            named = _NAME.fullmatch(item.path.name)
            head = head_of(item)
            if named and (
                _fits(head, named["task"]) or not head.startswith(("{", "["))
            ):
                stamped[item.path.parent, named["stamp"]].append(item.path)
        for paths in stamped.values():
            yield source_of(*sorted(paths))  # "results" comes before "samples"

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source (InputError: a file is damaged, or nothing names the
        model)."""
        dump = Dump((), ())
        stamp = ""
        results = Results({}, source.root)
        samples: dict[str, Path] = {}
        for path in source.files:
            named = _NAME.fullmatch(path.name)
            stamp, task = ("", None)
            if named:
                stamp = named["stamp"]
                task = named["task"]
            if task:
                samples[task] = path
            else:
                results = Results(read_document(path), source.root, stamp)
        if not results.stamp:
            results = Results({}, source.root, stamp)
            dump.notes.append(
                f"{source.files[0].name}: no results file, so no settings, versions or "
                "figures"
            )
        tables = [
            _Table(task, samples.get(task), results, dump)
            for task in dict.fromkeys((*results.tasks, *samples))
        ]
        if not tables:
            raise InputError(
                "no task",
                path=source.name,
                expected="results of lmms-eval with configs",
            )
        require_model(settings.model or results.model, source.name)
        dump.runs = tuple(table.header() for table in tables)
        dump.published = tuple(results.groups())
        dump.batches = chain.from_iterable(
            table.batches(number) for number, table in enumerate(tables)
        )
        return dump


IMPORTER = LmmsEval()


def _fits(head: str, task: str | None) -> bool:
    if task is None:
        of_terminal_bench = has_keys(head, "trial_name", "is_resolved")
        return not of_terminal_bench and (
            has_keys(head, "results") or has_keys(head, "configs")
        )
    return has_keys(head, "doc_id") and not has_keys(head.partition("\n")[0], "doc")


@dataclass
class _Table:
    """The samples of one task; no path: figures only."""

    task: str
    path: Path | None
    results: Results
    dump: Dump

    def __post_init__(self) -> None:
        self.key = str(self.results.config(self.task).get("score_key") or "score")
        self.filters = self.results.filters(self.task)
        self.seen = Seen()
        rows = Counter[Any]()
        if self.path:
            for row, _ in self._source([]).rows():
                self.seen.add(row, self.key)
                rows[whole_count(row["doc_id"])] += 1
        most = max(rows.values(), default=1)
        if not self.filters:
            self.filters = [
                "none",
                *(f"unnamed {number}" for number in range(2, most + 1)),
            ]
            self.seen.unnamed = self.filters[1:]
        if len(self.filters) > 1 and most > 1:
            self.dump.notes.append(
                f"{self.task}: rows do not name their filter; the n-th row of a "
                "document is taken for that of the n-th filter "
                f"({', '.join(self.filters)})"
            )

    def header(self) -> RunHeader:
        """The run of the task."""
        file_name = ""
        if self.path:
            file_name = self.path.name
        return self.results.header(self.task, self.seen, file_name)

    def batches(self, run: int) -> Iterator[pa.RecordBatch]:
        """All sample rows."""
        if self.path is None:
            return
        source = self._source(self.dump.rejections)
        turns = Counter[int]()
        yield from batches_of(
            source.located(),
            partial(self._rows, run=run, turns=turns),
            self.dump.rejections,
            "a sample as lmms-eval writes it",
        )

    def _source(self, rejections: list[Rejection]) -> RowSource:
        assert self.path is not None
        return RowSource(self.path, self.path.name, _KEYS, rejections)

    def _rows(self, row: Row, run: int, turns: Counter[int]) -> Iterator[Row]:
        """A row for each answer; scores of several answers together stand in one of
        their own."""
        number = whole_count(row["doc_id"])
        if number is None:
            raise ValueError(
                f"doc_id is no whole number: {compact(row['doc_id'])[:60]}"
            )
        turn = turns[number]
        turns[number] += 1
        if turn >= len(self.filters):
            raise ValueError(
                f"document {number} stands there {turn + 1} times, for "
                f"{len(self.filters)} filters"
            )
        prompt = {"run": run, **_prompt(row, number)}
        repeats = self.results.repeats(self.task)
        answers = []
        if turn == 0:
            answers = _answers(row, repeats)
        scores = self._scores(row, self.filters[turn], len(answers) or repeats)
        together = repeats > 1
        for draw, answer in enumerate(answers[:LARGEST_DRAW]):
            if together:
                own = {}
            else:
                own = {"scores": scores, **_choices(row)}
            yield {
                **prompt,
                "draw": draw,
                "response": answer,
                **_details(row, answer, together),
                **own,
            }
        if together or not answers:
            yield {**prompt, "draw": -1 if together else 0, "scores": scores}

    def _scores(self, row: Row, label: str, n_draws: int) -> list[Row]:
        scores = []
        for name in measured(row):
            entry = row[name]
            value = scalar_of(entry, self.key)
            is_own = not isinstance(entry, dict | list | str)
            score: Row = {
                "metric": name,
                "filter": label_of(label),
                "value": value,
                "n_draws": n_draws,
            }
            if is_own:
                score["raw"] = None
            else:
                score["raw"] = as_text(entry)
            if value is not None:
                score["status"] = None
            elif entry is None:
                score["status"] = "error"
            else:
                score["status"] = "not_scalar"
            if is_own:
                score["origin"] = None
            else:
                score["origin"] = "mapped"
            scores.append(score)
        return scores


def _prompt(row: Row, number: int) -> Row:
    """A document by its number, its text and its target: the text alone may be that of
    many images, and the hash of a document holds addresses in memory."""
    text = input_text(row.get("input"))
    target = text_of_any(row.get("target"))
    media = row.get("input_media")
    metadata = None
    if media:
        metadata = compact({"input_media": media})
    return {
        "position": number,
        "prompt_id": str(number),
        "identity": compact({"doc_id": number, "input": text, "target": target}),
        "text": text,
        "target": target,
        "metadata": metadata,
    }


def _answers(row: Row, repeats: int) -> list[str | None]:
    """Texts of the model: one, or one for each repeat. Where it equals what the
    filter left it is not stored twice."""
    responses = row.get("resps", row.get("filtered_resps"))
    if isinstance(responses, list) and repeats > 1:
        return [as_text(item) for item in responses]
    if isinstance(responses, list) and len(responses) == 1:
        (responses,) = responses
    if responses is None or _pairs(row):
        said = None
    else:
        said = as_text(responses)
    return [said]


def _details(row: Row, answer: str | None, together: bool) -> Row:
    filtered = row.get("filtered_resps")
    counts = objects_of(row.get("token_counts"))
    tokens = {}
    if counts and not together:
        tokens = counts[0]
    is_other = isinstance(filtered, str) and filtered != answer and not together
    extracted_answer = None
    if is_other:
        extracted_answer = filtered
    return {
        "extracted_answer": extracted_answer,
        "input_tokens": whole_or_none(tokens.get("input_tokens")),
        "output_tokens": whole_or_none(tokens.get("output_tokens")),
    }


def _pairs(row: Row) -> list[tuple[float | None, bool | None]]:
    """Log-likelihood and greediness of each option; empty where the model wrote
    text."""
    responses = items_of(row.get("filtered_resps"))
    # a single request: its list was taken away
    if responses and not isinstance(responses[0], list):
        responses = [responses]
    pairs = [response_pair(item) for item in responses]
    if pairs and all(None not in pair for pair in pairs):
        return pairs
    return []


def _choices(row: Row) -> Row:
    pairs = _pairs(row)
    target = text_of_any(row.get("target")) or ""
    right = None
    if target.isdecimal() and len(pairs) > 1 and len(target) < 6:
        right = int(target)
    has_target = False
    if right is not None:
        has_target = item_at(pairs, right) is not None
    choices = [
        {
            "choice_index": index,
            "loglikelihood": value,
            "is_greedy": is_greedy,
            "is_target": index == right if has_target else None,
        }
        for index, (value, is_greedy) in enumerate(pairs)
    ]
    if choices:
        return {"choice_scores": choices}
    return {}
