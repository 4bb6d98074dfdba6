"""Reports as EvalScope writes them, one file for a model and a data set: of a folder one
table, a row a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warehouse.boards.nested import text_of
from warehouse.boards.table import FEWEST_ROWS, RawTable, table_of_records

Path = tuple[str, ...]


def is_evalscope(document: Any) -> bool:
    """Whether a document is the report of a model on a data set."""
    if not isinstance(document, Mapping):
        return False
    named = "model_name" in document and "dataset_name" in document
    return named and isinstance(document.get("metrics"), list)


def evalscope_table(
    documents: Iterable[Mapping[str, Any]], name: str
) -> RawTable | None:
    """The reports of several models as one table; None where these are too few.

    A report that stands twice, of two runs, gives no figure: nothing says which is meant.

    Args:
        documents: reports.
        name: of the folder.
    """
    records: dict[str, dict[Path, str]] = {}
    counts: dict[Path, set[str]] = {}
    for document in documents:
        model = text_of(document["model_name"])
        own = records.setdefault(model, {})
        for path, score, n in _figures(document):
            counts.setdefault(path, set()).add(n)
            is_other = path in own and own[path] != score
            own[path] = "" if is_other else score
    if len(records) < FEWEST_ROWS:
        return None
    table = table_of_records(name, list(records.values()), is_ordered=False)
    sizes: dict[str, int] = {}
    for path, found in counts.items():
        (n,) = found if len(found) == 1 else ("",)
        if n.isdecimal():
            sizes[" ".join(path)] = int(n)
    return RawTable(
        f"{name}: reports of EvalScope",
        table.columns,
        tuple(records),
        is_ordered=False,
        counted=sizes,
    )


def _figures(document: Mapping[str, Any]) -> Iterator[tuple[Path, str, str]]:
    """Figures of a report with their items: of each metric, and of its subsets where
    there are several."""
    dataset = text_of(document["dataset_name"])
    for metric in document["metrics"]:
        if not isinstance(metric, Mapping):
            continue
        label = f"{dataset} {text_of(metric.get('name'))}".strip()
        yield (label,), text_of(metric.get("score")), text_of(metric.get("num"))
        subsets = list(_subsets(metric))
        for subset in subsets if len(subsets) > 1 else ():
            path = (f"{label} {text_of(subset.get('name'))}",)
            yield path, text_of(subset.get("score")), text_of(subset.get("num"))


def _subsets(metric: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for category in metric.get("categories") or ():
        if isinstance(category, Mapping):
            for subset in category.get("subsets") or ():
                if isinstance(subset, Mapping):
                    yield subset
