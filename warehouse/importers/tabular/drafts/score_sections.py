"""Sections of a draft on scores, metrics and published figures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from warehouse.importers.tabular.column_names import (
    OF_TRUTH,
    Grade,
    says_good,
)
from warehouse.importers.tabular.column_profiles import column_of_values
from warehouse.importers.tabular.drafts.answers import ScoreColumn
from warehouse.importers.tabular.drafts.found import Found
from warehouse.importers.tabular.drafts.matrix import is_signed
from warehouse.importers.tabular.drafts.other_scores import range_of
from warehouse.importers.tabular.drafts.toml import (
    inline_table,
    toml_key,
    toml_text,
)


def score_lines(found: Found) -> Iterator[str]:
    if found.figures is not None:
        yield from found.figures.published()
        if found.figures.metric_path:
            return
        if found.figures.is_wide:
            first = found.figures.values
        else:
            first = found.figures.values[:1]
        seen = column_of_values(chain.from_iterable(column.values for column in first))
        yield from _metric(found.figures.metric, False, range_of(seen))
        return
    if found.cells is not None:
        yield from _cell_scores(found)
        return
    named: set[str] = set()
    for candidate in found.scores.chosen:
        yield from _score(found, candidate, named)
    if found.scores.is_compared:
        yield from _compared(found)
    if found.scores.offered:
        yield "# Also columns of numbers; uncomment what are scores:"
    for candidate in found.scores.offered:
        yield from (
            f"# {line}" if line else "" for line in _score(found, candidate, named)
        )


def _score(found: Found, candidate: ScoreColumn, named: set[str]) -> Iterator[str]:
    column = candidate.column
    guess = ""
    if found.scores.is_guess and candidate.grade < Grade.USUAL:
        guess = "guessed from its name; "
    meaning = ""
    if candidate.meaning:
        meaning = f"; {candidate.meaning}"
    yield f"[[scores]]  # {guess}{column.kind}{meaning}"
    metric = candidate.metric
    if metric in named:
        metric = ".".join((*column.parents, column.name)) or metric
    if metric:
        named.add(metric)
        yield f"metric = {toml_text(metric)}"
    elif found.fields.metric is not None:
        yield f"metric = {{ path = {toml_text(found.fields.metric.path)} }}"
    if found.fields.filter is not None:
        yield f"filter = {{ path = {toml_text(found.fields.filter.path)} }}"
    yield f"value = {candidate.value}"
    yield from _if_null(found, candidate.missing)
    yield ""
    if metric:
        yield from _metric(
            metric, candidate.is_truth, range_of(column), candidate.are_grades
        )


def _if_null(found: Found, missing: int) -> Iterator[str]:
    if missing and found.fields.metric is None:
        yield '# if_null = "omit"  # rows without a value are left out of the mean'
        yield ('# if_null = { value = 0, status = "no_answer" }  # or they count as 0')


def _cell_scores(found: Found) -> Iterator[str]:
    assert found.cells is not None
    together = found.cells.together
    keys, meaning = together.reading(found.table.delimiter)
    signed = not keys and is_signed(together) and -1.0 in together.numbers
    if signed:
        keys = {"scale": 0.5, "add": 0.5}
        meaning = "taken for 1 = right and -1 = wrong: check that -1 is not missing"
    about = together.kind
    if meaning:
        about = f"{about}; {meaning}"
    yield f"[[scores]]  # of the cells: {about}"
    yield 'metric = "score"'
    cell = toml_text("@cell")
    if keys:
        cell = inline_table({"path": "@cell"} | keys)
    yield f"value = {cell}"
    yield ""
    yield from _metric("score", signed or together.scores.is_truth, range_of(together))


def _compared(found: Found) -> Iterator[str]:
    target = found.fields.sample["target"]
    response = found.fields.sample["response"]
    way = "normalise"
    if target.is_number:
        way = "numeric"
    yield (
        "# No column of scores: guessed that a response is right if it equals the "
        "target."
    )
    yield "[[scores]]"
    yield 'metric = "exact_match"'
    yield (
        f"value = {{ equals = [{toml_text(response.path)}, "
        f"{toml_text(target.path)}], {way} = true }}"
    )
    yield from _if_null(found, response.nulls + ("" in response.values))
    yield ""
    yield from _metric("exact_match", True, "0 and 1")


def _metric(
    name: str, truth: bool, seen: str, are_grades: bool = False
) -> Iterator[str]:
    """Lines on a metric: what is known, and what has to be filled in."""
    key = toml_key(name)
    yield f"[metrics.{key}]  # seen: {seen}"
    if truth:
        yield 'kind = "binary"'
    else:
        yield '# kind = "bounded"  # with low and high; or "continuous"'
    is_sure = truth and (name in OF_TRUTH or says_good(name)) or are_grades
    if is_sure:
        yield "higher_is_better = true"
    else:
        yield "# higher_is_better = true  # or false"
    yield ""
