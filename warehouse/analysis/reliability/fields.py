"""Scenarios inside one benchmark: its prompts by a field of theirs, or by a stored clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Benchmark
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import canonical_json, parse_json
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import field_at
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class Labels:
    """Scenario and subscenario of prompts.

    Attributes:
        whole: of all prompts, where nothing splits them.
        of: by prompt's id; prompts without are left out. None: nothing splits them.
        notes: what a reader should know.
    """

    whole: tuple[str, str]
    of: dict[int, tuple[str, str]] | None
    notes: tuple[str, ...] = ()

    def groups(self, prompts: NDArray[np.int64]) -> list[tuple[tuple[str, str], list[int]]]:
        """Places among ``prompts`` of each scenario and subscenario, by name."""
        if self.of is None:
            return [(self.whole, list(range(len(prompts))))]
        groups: dict[tuple[str, str], list[int]] = {}
        for place, prompt in enumerate(prompts.tolist()):
            if prompt in self.of:
                groups.setdefault(self.of[prompt], []).append(place)
        return sorted(groups.items())


def prompt_labels(store: Store, benchmark: Benchmark, fields: str | None, scenario: str) -> Labels:
    """The scenario of each prompt of a benchmark.

    Args:
        fields: a field of the prompts' documents or a clustering, or two with a comma between them;
            None: the benchmark is one subscenario of ``scenario``.
        scenario: that it belongs to.

    Raises:
        MisuseError: no prompt has the field; names those that there are.
    """
    if fields is None:
        return Labels((scenario, benchmark.name), None)
    names = [name.strip() for name in fields.split(",")]
    if not all(names) or len(names) > 2:
        raise MisuseError(f"scenarios {fields!r}; expected a field, or two (scenarios and their subscenarios)")
    documents, ids = _documents(store, benchmark)
    columns = [_column(store, benchmark, name, documents, ids) for name in names]
    labels = {
        prompt: (columns[0][prompt], columns[-1][prompt])
        for prompt in ids
        if all(prompt in column for column in columns)
    }
    left = len(ids) - len(labels)
    notes = (f"{left} of {len(ids)} prompts without {fields} are left out",) if left else ()
    return Labels((scenario, benchmark.name), labels, notes)


def _documents(store: Store, benchmark: Benchmark) -> tuple[list[Any], list[int]]:
    query = "select id, metadata from prompt where benchmark_id in (:benchmark_ids) order by id"
    rows = store.rows(query, {"benchmark_ids": benchmark.ids})
    return [parse_json(row["metadata"]) if row["metadata"] else None for row in rows], [row["id"] for row in rows]


def _column(
    store: Store, benchmark: Benchmark, field: str, documents: Sequence[Any], ids: Sequence[int]
) -> dict[int, str]:
    """Label of each prompt by a field, else by a clustering of this name."""
    labels = {
        prompt: value if isinstance(value, str) else canonical_json(value).decode()
        for prompt, document in zip(ids, documents, strict=True)
        if (value := field_at(document, field)) is not None
    }
    if labels:
        return labels
    rows = store.rows(query_text("analysis", "cluster_labels"), {"benchmark_ids": benchmark.ids})
    labels = {row["prompt_id"]: row["label"] for row in rows if row["name"] == field}
    if labels:
        return labels
    known = {key for document in documents if isinstance(document, dict) for key in document}
    known |= {row["name"] for row in rows}
    raise MisuseError(
        f"no prompt of {benchmark.name} has the field {field!r}, and no clustering is called so; there are:"
        f" {', '.join(sorted(known)) or 'none'}"
    )
