"""What sample files of lm-evaluation-harness say without their results file."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from warehouse.importers.common.jsonl import RowSource
from warehouse.importers.common.model_arguments import position_fields
from warehouse.importers.common.sampling import other_sampling, sampling_fields
from warehouse.importers.lm_eval.layout import find_layout, metrics_of, requests_of
from warehouse.importers.lm_eval.metrics import Seen, metric_specs
from warehouse.importers.lm_eval.results import HARNESS
from warehouse.records import RunHeader, parse_json

_LABELS = re.compile(rb'"filter": ?("(?:[^"\\]|\\.)*"), ?"metrics": ?(\[[^\]]*\])')
_FORMULATIONS = {"rolling": "loglikelihood_rolling", "text": "generate_until"}


def first_seen(rows: Sequence[Mapping[str, Any]]) -> Seen:
    """Metrics with their filters and first values."""
    pairs = dict.fromkeys(
        (metric, row["filter"])
        for row in rows
        if isinstance(row.get("filter"), str)  # anything else counts as no label
        for metric in metrics_of(row)
    )
    values: dict[str, Any] = {}
    for row in rows:
        for metric in metrics_of(row):
            if row.get(metric) is not None:
                values.setdefault(metric, row[metric])
    return Seen(tuple(pairs), values)


def scan(source: RowSource) -> tuple[Seen, tuple[str, ...]]:
    """Metrics and filters of a whole file, for when no results file lists them.

    Rows before 0.4.7 do not name their filter: the second row of a document is then that of a
    second, nameless filter.
    """
    first = source.first()
    seen = first_seen(first)
    probe = RowSource(source.path, source.name, source.keys)
    if first and "filter" in first[0] and not source.is_array():
        labels = set(probe.findall(_LABELS))
        pairs = list(dict.fromkeys((*seen.pairs, *_labelled(labels))))
        return Seen(tuple(pairs), seen.values), tuple(dict.fromkeys(name for _, name in pairs))
    rows = Counter[str]()
    metrics: dict[str, None] = {}
    for row, _ in probe.rows():
        rows[str(row["doc_id"])] += 1
        metrics.update(dict.fromkeys(metrics_of(row)))
    filters = ("none", *(f"unnamed {n}" for n in range(2, max(rows.values(), default=1) + 1)))
    if len(filters) > 1:
        source.notes.append(f"{source.name}: {len(filters)} filters whose names are not known")
    pairs = [(metric, name) for name in filters for metric in metrics]
    return Seen(tuple(pairs), seen.values), filters


def _labelled(labels: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[str, str]]:
    """Metric and filter of what the pattern found; rows that cannot be read are rejected later."""
    for label, listed in sorted(labels):
        with contextlib.suppress(ValueError):
            name, metrics = parse_json(label), parse_json(listed)
            yield from ((metric, name) for metric in metrics if isinstance(metric, str))


def header_without_results(task: str, model: str, source: RowSource, seen: Seen, stamp: str) -> RunHeader:
    """The header of samples whose results file is missing."""
    rows = source.first() or [{}]
    requests = requests_of(rows[0])
    layout = find_layout(rows, {}, ())
    generation = requests[0][1] if layout.kind == "text" and len(requests[0]) > 1 else {}
    settings = generation if isinstance(generation, dict) else {}
    source.notes.append(f"{source.name}: no results file, so no settings, versions or figures")
    return RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=task,
        **position_fields((), model, source.path),
        formulation=_FORMULATIONS.get(layout.kind) or ("multiple_choice" if len(requests) > 1 else "loglikelihood"),
        **sampling_fields(settings),
        sampling=other_sampling(settings),
        metrics=metric_specs({}, {}, {}, seen),
        run_id=stamp or None,
        place=source.name,
    )
