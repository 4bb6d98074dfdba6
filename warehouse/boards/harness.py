"""Result files of harnesses, whose rows are tasks of one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.boards.nested import leaves, text_of
from warehouse.boards.table import FEWEST_ROWS, RawTable, table_of_records

_SUFFIX = "_stderr"


def is_lm_eval(document: Any) -> bool:
    """Whether a document is a results file of lm-evaluation-harness."""
    if not isinstance(document, Mapping):
        return False
    results = document.get("results")
    has_config = {"config", "versions", "configs"} & set(document)
    return bool(has_config) and isinstance(results, Mapping)


def lm_eval_table(document: Mapping[str, Any], name: str) -> RawTable | None:
    """The tasks of a results file of lm-evaluation-harness, with the samples of each."""
    results = document["results"]
    sizes = document.get("n-samples", {})
    records: list[dict[tuple[str, ...], str]] = []
    keys: list[str] = []
    for task, metrics in results.items():
        if not isinstance(metrics, Mapping):
            continue
        record: dict[tuple[str, ...], str] = {}
        for path, text in leaves(metrics).items():
            if len(path) == 1:
                record[path] = text
        record.pop(("alias",), None)
        counts = sizes.get(task) if isinstance(sizes, Mapping) else None
        if isinstance(counts, Mapping) and "effective" in counts:
            record["effective",] = text_of(counts["effective"])
        keys.append(str(task))
        records.append(record)
    if len(records) < FEWEST_ROWS:
        return None
    table = table_of_records(name, records)
    return RawTable(name, table.columns, tuple(keys), is_ordered=False, of_tasks=True)


def long_table_parts(table: RawTable) -> Iterator[RawTable]:
    """A table of the harness in Markdown, a row a task and a metric, as one table a
    metric; nothing where it is none."""
    columns = {path[-1].strip().casefold(): path for path in table.columns}
    needed = ("metric", "value", "stderr")
    task = columns.get("tasks") or columns.get("groups") or columns.get("task")
    if task is None or not all(name in columns for name in needed):
        return
    cells = {name: table.columns[columns[name]] for name in needed}
    names = _filled_down(table.columns[task])
    for metric in dict.fromkeys(cells["metric"]):
        rows = [row for row, text in enumerate(cells["metric"]) if text == metric]
        if not metric or len(rows) < FEWEST_ROWS:
            continue
        parts: dict[tuple[str, ...], list[str]] = {
            (metric,): [cells["value"][row] for row in rows],
            (f"{metric}{_SUFFIX}",): [cells["stderr"][row] for row in rows],
        }
        keys = tuple(names[row] for row in rows)
        yield RawTable(table.name, parts, keys, is_ordered=False, of_tasks=True)


def _filled_down(texts: Sequence[str]) -> list[str]:
    """Names, of which a cell without one has that above it."""
    found: list[str] = []
    for text in texts:
        found.append(text or (found[-1] if found else ""))
    return found


def is_mteb(document: Any) -> bool:
    """Whether a document is one task of one model, as MTEB writes it."""
    if not isinstance(document, Mapping):
        return False
    return isinstance(document.get("scores"), Mapping) and "task_name" in document


def mteb_record(document: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """The figures of one task of MTEB: ``default|main_score``, of several splits
    ``test|default|main_score``."""
    found: dict[tuple[str, ...], str] = {}
    has_splits = len(document["scores"]) > 1
    for split, subsets in document["scores"].items():
        for one in subsets if isinstance(subsets, list) else ():
            if not isinstance(one, Mapping):
                continue
            subset = text_of(one.get("hf_subset")) or "default"
            for metric, value in one.items():
                if not isinstance(value, Mapping | list) and metric != "hf_subset":
                    place = f"{subset}|{metric}"
                    if has_splits:
                        place = f"{split}|{place}"
                    found[place,] = text_of(value)
    return found
