"""Scores of a table counted while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import InputError
from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.mapping_rules import Variant

#: Statuses that say why there is no value.
_REASONS = ("no_answer", "error", "limit", "refused")


@dataclass
class ScoreTally:
    """Counts over the rows of a source, batch by batch.

    ``explained`` are rows without a value that say why: an error of the sample, or a
    status that a column states.
    """

    rows: int = 0
    explained: int = 0
    scores: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    filled: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)
    has_choices: bool = False

    def add(self, batch: pa.RecordBatch, variant: Variant) -> None:
        """Take in the rows of a batch."""
        self.has_choices |= variant.choices is not None
        if not variant.scores:
            return
        self.rows += batch.num_rows
        scores = batch.column("scores").flatten()
        metrics = scores.field("metric")
        has_value = pc.is_valid(scores.field("value"))
        is_filled = _filled(scores, variant)
        for metric in pc.unique(metrics).to_pylist():
            of_metric = pc.equal(metrics, metric)
            self.scores[metric] += _count(of_metric)
            self.values[metric] += _count(pc.and_(of_metric, has_value))
            self.filled[metric] += _count(pc.and_(of_metric, is_filled))
        if not self.values.total():
            self._explain(batch, variant)

    def _explain(self, batch: pa.RecordBatch, variant: Variant) -> None:
        """Look for reasons, as long as no row has a value."""
        scores = batch.column("scores").flatten()
        why = pa.array([False] * batch.num_rows)
        if "error" in batch.schema.names:
            why = batch.column("error").is_valid()
        if any(rule.status is not None for rule in variant.scores):
            has_reason = pc.is_in(scores.field("status"), pa.array(_REASONS))
            rows = (
                pc.list_parent_indices(batch.column("scores"))
                .filter(has_reason)
                .cast(pa.int64())
            )
            why = pc.or_(
                why, pc.is_in(pa.array(range(batch.num_rows), pa.int64()), rows)
            )
        self.explained += _count(why)
        for metric, word in zip(
            scores.field("metric").to_pylist(),
            scores.field("raw").to_pylist(),
            strict=True,
        ):
            if word is not None:
                self.words.setdefault(metric, word)

    def settle(self, name: str, variants: Sequence[Variant]) -> list[str]:
        """Notes on what has no value.

        Raises:
            InputError: no row has one, and not all say why.
        """
        if not self.rows or self.has_choices:
            return []
        if not self.values.total():
            if self.explained == self.rows:
                return []
            raise self._unscored(name, variants)
        counts = {metric: count for metric, count in self.scores.items() if count}
        lines = {
            metric: f"{metric}: no value in any of {count} rows"
            for metric, count in counts.items()
        }
        notes = [line for metric, line in lines.items() if not self.values[metric]]
        return notes + [
            f"{line}, and if_null gives each one"
            for metric, line in lines.items()
            if self.filled[metric] == counts[metric]
        ]

    def _unscored(self, name: str, variants: Sequence[Variant]) -> InputError:
        rules = chain.from_iterable(variant.scores for variant in variants)
        sections = dict.fromkeys(rule.value.where for rule in rules)
        found = f"no score in any of {self.rows} rows"
        if self.words:
            found += f", only text such as {next(iter(self.words.values()))[:40]!r}"
        return InputError(
            found,
            path=name,
            expected=f"numbers at {listed(sections, 5)}",
            advice="map the column that holds them, words by values = { … }; "
            "failed samples by [sample] error or the score's status",
        )


def _filled(scores: pa.StructArray, variant: Variant) -> pa.Array:
    """Which scores look as ``if_null`` makes them, where it gives a status besides."""
    filled = pa.array([False] * len(scores))
    for rule in variant.scores:
        if rule.null_value is not None and rule.null_status is not None:
            status = pc.equal(scores.field("status"), rule.null_status)
            value = pc.equal(scores.field("value"), float(rule.null_value))
            filled = pc.or_(filled, pc.fill_null(pc.and_(status, value), False))
    return filled


def _count(mask: pa.Array) -> int:
    return int(pc.sum(mask).as_py() or 0)
