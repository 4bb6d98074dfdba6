"""What the shape of a table tells: a column per model, a lone column of scores, a head."""

from __future__ import annotations

from warehouse.importers.tabular.profile import ColumnProfile, TableProfile
from warehouse.importers.tabular.usual_names import RUN_NAMES, Guess, plain_name


def cells_of(table: TableProfile, found: Guess) -> list[ColumnProfile]:
    """The columns of models, where a table is a matrix of prompts by models; else none."""
    if table.format not in ("CSV", "TSV", "Parquet") or found.scores or "model" in found.run:
        return []
    if {"response", "target"} <= {*found.sample}:
        return []
    numbers = [c for c in table.columns if c.name in found.unused and _is_score(c, table)]
    truths = [column for column in numbers if column.scores.is_truth]
    chosen = truths if len(truths) > 1 else numbers
    label = found.sample.get("prompt_id") or found.sample.get("text") or table.columns[0].name
    chosen = [column for column in chosen if column.name != label]
    return chosen if len(chosen) > 1 else []


def _is_score(column: ColumnProfile, table: TableProfile) -> bool:
    if column.is_number or column.scores.is_truth:
        return not (column.is_unique and column.rows > 2 and are_numbered(column))
    return bool(column.scores.reading(table.delimiter)[0])


def are_numbered(column: ColumnProfile) -> bool:
    """Whether the values are whole numbers one after the other, as ids are."""
    texts = [str(value) for value in column.values]
    if not all(text.isascii() and text.isdigit() for text in texts):
        return False
    numbers = [int(text) for text in texts]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def lone_score(table: TableProfile, found: Guess) -> ColumnProfile | None:
    """The only column of 0 and 1, where none has a usual name of scores."""
    truths = [c for c in table.columns if c.name in found.unused and c.scores.is_truth]
    chosen = [c for c in truths if len(c.values) > 1]
    return chosen[0] if len(chosen) == 1 and not found.scores else None


def of_document(table: TableProfile, found: Guess) -> dict[str, str]:
    """Fields of a run that the document around the records holds: field -> path."""
    paths: dict[str, str] = {}
    for path in table.document:
        paths.setdefault(plain_name(path.rpartition(".")[2].strip('"')), path)
    wanted = ("model", "benchmark", "temperature", "top_p", "max_tokens", "split", "revision")
    chosen: dict[str, str] = {}
    for name in wanted:
        words = (name, *RUN_NAMES.get(name, ()), *(("name",) if name == "benchmark" else ()))
        known = next((word for word in words if word in paths), None)
        if known is not None and name not in found.run:
            chosen[name] = paths[known]
    return chosen
