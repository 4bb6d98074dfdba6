"""Sample rows one by one: the way of reading that understands every form and names bad
lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from warehouse.importers.common.json_fields import (
    as_items,
    as_text,
    as_text_or_none,
    compact,
    first_of,
    items_of,
    number_or_none,
    paired_value,
    response_pair,
)
from warehouse.importers.common.jsonl import RowSource, in_batches
from warehouse.importers.lm_eval.layout import (
    Filter,
    Layout,
    listed_metrics,
    metrics_of,
    requests_of,
)
from warehouse.importers.lm_eval.metrics import BYPASS, filter_label

BATCH_ROWS = 2000
#: What the harness's regular-expression filter gives where it finds nothing.
NO_MATCH = "[invalid]"

_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_LARGEST_ID = 1 << 63


@dataclass
class RowReader:
    """Turns the rows of one file into sample rows of one run."""

    source: RowSource
    layout: Layout
    run: int
    _turns: Counter[str] = field(default_factory=Counter)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All sample rows of the file."""
        return in_batches(
            (self._records(row, text) for row, text in self.source.rows()), BATCH_ROWS
        )

    def _records(self, row: Mapping[str, Any], text: bytes) -> list[dict[str, Any]]:
        """One row for each draw; scores of all draws together stand in a row of their
        own."""
        plan, first = self._filter(row)
        prompt = self._prompt(row)
        scored = {"draw": plan.draw, "scores": self._scores(row, text, plan)}
        if not first:
            return [{**prompt, **scored}]
        draws = self._draws(row)
        if plan.draw == 0:
            draws[0] |= scored
        else:
            draws.append(scored)
        return [{**prompt, **draw} for draw in draws]

    def _filter(self, row: Mapping[str, Any]) -> tuple[Filter, bool]:
        """The pipeline of a row, and whether it is the one whose rows carry the
        responses."""
        filters = self.layout.filters
        if isinstance(row.get("filter"), str):
            return self.layout.filter(row["filter"]), row["filter"] == filters[0].name
        # unlabelled: the n-th row of a document is that of the n-th filter
        item = str(row["doc_id"])
        turn = self._turns[item] % len(filters)
        self._turns[item] += 1
        return filters[turn], turn == 0

    def _prompt(self, row: Mapping[str, Any]) -> dict[str, Any]:
        doc = row.get("doc")
        target = target_text(row.get("target"))
        requests = requests_of(row)
        metadata = None
        if isinstance(doc, dict):
            metadata = compact(doc)
        return {
            "run": self.run,
            "position": _position(row["doc_id"]),
            "prompt_id": str(row["doc_id"]),
            "identity": compact({"doc": doc, "target": target}),
            "text": self._question(doc)
            or (None if self.layout.shows_examples else self._sent(requests)),
            "target": target,
            "choices": self._choices(requests),
            "metadata": metadata,
        }

    def _question(self, doc: Any) -> str | None:
        parts = (
            (doc.get(key) for key in self.layout.question)
            if isinstance(doc, dict)
            else ()
        )
        return "\n".join(as_text(part) for part in parts if part is not None) or None

    def _sent(self, requests: Sequence[Sequence[Any]]) -> str | None:
        prompt = first_of(requests[0])
        if self.layout.boxed and isinstance(prompt, list) and prompt:
            prompt = prompt[0]
        if prompt is None:
            return None
        return as_text(prompt)

    def _choices(self, requests: Sequence[Sequence[Any]]) -> str | None:
        if self.layout.options:
            return compact(self._options(requests))
        return None

    def _options(self, requests: Sequence[Sequence[Any]]) -> list[str]:
        """Continuations without the blank that divides them from the prompt."""
        shown = requests
        if self.layout.mutual:
            shown = requests[: len(requests) // 2]
        return [as_text(item[1]).lstrip(" ") if len(item) > 1 else "" for item in shown]

    def _draws(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        requests = requests_of(row)
        sent = self._sent(requests)
        responses = items_of(row.get("resps"))
        if self.layout.kind != "text":
            likelihoods = self._likelihoods(row, requests, responses or [])
            return [{"draw": 0, "prompt_sent": sent, "choice_scores": likelihoods}]
        texts = _responses(responses or [])
        extracted = self._extracted(row, texts[0])
        draws = [
            {"draw": n, "prompt_sent": sent, "response": t} for n, t in enumerate(texts)
        ]
        return [{**draws[0], "extracted_answer": extracted}, *draws[1:]]

    def _extracted(self, row: Mapping[str, Any], response: str | None) -> str | None:
        if not self.layout.extract or self.layout.filters[0].draw != 0:
            return None
        answer = _filtered(row)
        if answer not in (response, NO_MATCH):
            return answer
        return None

    def _likelihoods(
        self,
        row: Mapping[str, Any],
        requests: Sequence[Sequence[Any]],
        responses: Sequence[Any],
    ) -> list[dict[str, Any]]:
        pairs = [
            response_pair(item[0] if isinstance(item, list) and item else None)
            for item in responses
        ]
        if self.layout.mutual:
            half = len(pairs) // 2
            apart = [number for number, _ in pairs[half:]]
            pairs = pairs[:half]
        else:
            apart = [None] * len(pairs)
        options = self._options(requests)
        if self.layout.kind == "rolling":
            options = [self._sent(requests) or ""]
        gold = self._gold(row, options)
        return [
            {
                "choice_index": index,
                "loglikelihood": pair[0],
                "unconditional_loglikelihood": alone,
                "is_greedy": pair[1],
                "n_bytes": len(option.encode()),
                "is_target": None if gold is None else index in gold,
            }
            for index, (pair, alone, option) in enumerate(
                zip(pairs, apart, options, strict=False)
            )
        ]

    def _gold(
        self, row: Mapping[str, Any], options: list[str]
    ) -> frozenset[int] | None:
        """Indices of the options that the target names; ``None``: it names none."""
        if self.layout.target == "continuation":
            return frozenset(range(len(options)))
        target = target_text(row.get("target"))
        if self.layout.target == "option":
            same = (n for n, option in enumerate(options) if option == target)
            if self.layout.options:
                return frozenset(same) or None
            return None
        named = _named_options(target)
        if any(0 <= number < len(options) for number in named):
            return named
        return None

    def _scores(
        self, row: Mapping[str, Any], text: bytes, plan: Filter
    ) -> list[dict[str, Any]]:
        usual = self.layout.labelled and listed_metrics(row) == self.layout.listed
        if usual:
            names = self.layout.metrics
        else:
            names = metrics_of(row)
        bare = any(word in text for word in (b"NaN", b"Infinity"))
        words = row
        if bare:
            words = json.loads(text, parse_constant=str)
        unanswered = _filtered(row) == NO_MATCH
        return [
            {
                "metric": name,
                "filter": filter_label(plan.name),
                "n_draws": plan.n_draws,
                **self._value(name, row.get(name), words.get(name), unanswered),
            }
            for name in names
            if name != BYPASS
        ]

    def _value(
        self, name: str, value: Any, word: Any, unanswered: bool
    ) -> dict[str, Any]:
        if name in self.layout.paired:
            return paired_value(value)
        number = number_or_none(value)
        if number is not None:
            status = None
            if unanswered and not number:
                status = "no_answer"
            return {
                "value": number,
                "status": status,
            }
        if value is None:
            raw = None
            if word in _CONSTANTS:
                raw = word
            return {"status": "error", "raw": raw}
        return {"status": "not_scalar", "raw": compact(value)}


def target_text(target: Any) -> str:
    """The target as the harness has written it since 0.4.4."""
    if isinstance(target, str):
        return target
    return str(target)


def _position(doc_id: Any) -> int | None:
    whole = isinstance(doc_id, int) and not isinstance(doc_id, bool)
    if not whole and not (isinstance(doc_id, str) and doc_id.isdecimal()):
        return None
    if abs(int(doc_id)) < _LARGEST_ID:
        return int(doc_id)
    return None


def _responses(responses: Sequence[Any]) -> list[str | None]:
    """Text of each draw; several requests of one document make a JSON list."""
    lists = [as_items(item) for item in responses] or [[None]]
    if len(lists) == 1:
        return [as_text_or_none(item) for item in lists[0]] or [None]
    return [compact(list(draw)) for draw in zip(*lists, strict=False)] or [None]


def _filtered(row: Mapping[str, Any]) -> str | None:
    filtered = row.get("filtered_resps")
    first = None
    if isinstance(filtered, list) and filtered:
        first = filtered[0]
    if first is None:
        return None
    return as_text(first)


def _named_options(target: str) -> frozenset[int]:
    """Indices that a target such as ``2`` or ``[0, 2]`` names."""
    try:
        value = json.loads(target)
    except ValueError:
        return frozenset()
    listed = as_items(value)
    return frozenset(listed if all(type(item) is int for item in listed) else ())
