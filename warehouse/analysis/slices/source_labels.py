"""The fields by which somebody clustered the prompts of benchmarks, with the value of
each prompt."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Of a benchmark the value of each prompt, by field.
Labels = dict[str, dict[int, str]]
_ANY_NUMBER = 2**31 - 1


def source_labels(
    store: Store, benchmark_ids: Sequence[int], fewest: int, most: int = _ANY_NUMBER
) -> dict[int, Labels]:
    """By id of the benchmark its fields.

    Args:
        benchmark_ids: benchmarks that are meant.
        fewest: values that a field has at least.
        most: values that it has at most.
    """
    asked = {"benchmark_ids": list(benchmark_ids), "fewest": fewest, "most": most}
    found: dict[int, Labels] = {}
    for row in store.rows(query_text("analysis/slices", "source_labels"), asked):
        fields = found.setdefault(row["benchmark_id"], {})
        fields.setdefault(row["name"], {})[row["prompt_id"]] = row["label"]
    return found
