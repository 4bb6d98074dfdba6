"""Questions that a draft asks about columns of scores: which of them are meant, what rows
without a score are, what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warehouse.importers.tabular.column_names import (
    are_models,
    path_of,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.answers import (
    ScoreColumn,
    ScoreColumns,
    of_equal_answers,
    what_counts,
)
from warehouse.importers.tabular.drafts.apart import rows_apart
from warehouse.importers.tabular.drafts.boards import is_rate
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.full_marks import (
    full_marks,
    of_full_marks,
)
from warehouse.importers.tabular.drafts.other_scores import (
    OFFERED,
    in_texts,
    of_answers_by_model,
    of_counts,
    of_elements,
    of_lists,
    of_numbers,
    of_object,
    of_verdicts,
    of_whole,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.system_columns import of_system_columns
from warehouse.importers.tabular.drafts.system_questions import (
    are_by_model,
    by_model,
    of_systems_beside,
)
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    texts,
    toml_text,
)

#: The reading that no column offered is a score, and what to do then.
_NONE = "none of them: another column or another file holds the scores"
_OTHER = '[[scores]] metric = "score", value = "COLUMN"; or take the file that has them'


def _uncommented(candidates: Sequence[ScoreColumn]) -> Iterator[str]:
    """What to do for each column offered, which stands in the draft as a comment."""
    for candidate in candidates:
        path = toml_text(candidate.column.path)
        yield f"uncomment the [[scores]] and [metrics.NAME] of {path}"


def which(
    table: TableProfile, fields: Fields, candidates: Sequence[ScoreColumn]
) -> Choice:
    """Which of several columns are the scores, or whether they are figures."""
    figures = [*of_system_columns(table, fields)]
    figures += _of_named_rows(table, fields, candidates)
    between = [words for words, _ in figures]
    written = [text for _, text in figures]
    between += [candidate.shown for candidate in candidates[:OFFERED]]
    written += _uncommented(candidates[:OFFERED])
    if not table.is_object:
        for words, text in of_systems_beside(fields, candidates):
            between.append(words)
            written.append(text)
        for words, text in of_equal_answers(table, fields):
            between.append(words)
            written.append(text)
        between.append(_NONE)
        written.append(_OTHER)
    else:
        between.insert(0, "none: they are published figures of a whole benchmark")
        written.insert(0, _as_figures(candidates, _rates_beside(table, candidates)))
        if not any(c.column.parents for c in candidates):
            for words, text in of_object(table):
                between.append(words)
                written.append(text)
    return Choice(
        "which columns are the scores of the prompts", tuple(between), tuple(written)
    )


#: Characters of a name, and rows of a table of figures.
_NAME, _MOST_ROWS = 80, 200


def _of_named_rows(
    table: TableProfile, fields: Fields, candidates: Sequence[ScoreColumn]
) -> Iterator[tuple[str, str]]:
    """The readings that rows are systems, or parts of a benchmark, of which means are
    published: a column names each, and nothing is a question or an answer."""
    is_of_prompts = {"text", "response"} & {*fields.sample}
    target = fields.sample.get("target")
    is_of_prompts |= (
        {"target"} if target is not None and not target.is_unique else set()
    )
    are_means = all(
        own.column.is_percent or any(number % 1 for number in own.column.numbers)
        for own in candidates
    )
    if table.is_object or is_of_prompts or not are_means or table.rows > _MOST_ROWS:
        return
    names = [column for column in table.columns if _names_rows(column)]
    if {"model", "benchmark"} & {*fields.run}:
        names = []
    if table.location.draws or not candidates:
        return
    figures = ", ".join(toml_text(own.column.path) for own in candidates)
    stated = f"for [[scores]], [[published]] metric, value for each of {figures}"
    if not names:
        apart = rows_apart(table, fields)
        if apart:
            yield (
                f"published figures of systems: {apart.removesuffix(', and ')}",
                f"{apart}{stated}",
            )
        return
    path = toml_text(names[0].path)
    yield (
        f"published figures, and each row a model or system, named by {path}",
        f"[run] model = {path}, and {stated}",
    )
    yield (
        f"published figures of parts of a benchmark, named by {path}",
        f"[run] benchmark = {path}, and {stated}; --set model=NAME",
    )


def _names_rows(column: ColumnProfile) -> bool:
    """True if a column has another name in each row."""
    is_text = column.kind == "text" and column.is_unique and not column.parents
    is_id = bool({*words_of(column.name)[-1:]} & {"id", "uid", "uuid", "hash"})
    if is_id and not are_models(list(map(str, column.values))):
        return False
    return is_text and all(len(str(value)) <= _NAME for value in column.values)


def _rates_beside(table: TableProfile, candidates: Sequence[ScoreColumn]) -> list[str]:
    """Paths of the other numbers of an object that are called as rates are."""
    paths = {candidate.column.path for candidate in candidates}
    return [
        column.path
        for column in table.columns
        if column.is_number and is_rate(column.name) and column.path not in paths
    ]


def _as_figures(candidates: Sequence[ScoreColumn], beside: Sequence[str] = ()) -> str:
    """How a mapping says that they are published: a benchmark for each object, where
    one metric has several.

    Args:
        beside: paths of further figures.
    """
    first = candidates[0]
    if len({candidate.metric for candidate in candidates}) == len(candidates):
        path = toml_text(first.column.path)
        others = ", ".join(map(toml_text, beside))
        more = f", and of {others}" if others else ""
        return (
            f"[[published]] metric = {toml_text(first.metric)}, value = {path}, one "
            f"for each of them{more}"
        )
    name = path_of(first.column.name)
    around = texts(
        c.column.path.removesuffix(f".{name}")
        for c in candidates
        if c.metric == first.metric
    )
    return (
        f'[each] benchmark = {around}, [run] benchmark = {{ const = "{{benchmark}}" '
        f"}}, [[published]] metric = "
        f"{toml_text(first.metric)}, value = {toml_text(f'{{benchmark}}.{name}')}"
    )


def sparse(table: TableProfile, fields: Fields, candidate: ScoreColumn) -> Choice:
    """What rows without a score are; or figures of runs, of which some have none."""
    figures = [*_of_named_rows(table, fields, [candidate])]
    rows = candidate.column.rows
    missing = candidate.column.nulls
    return Choice(
        f"what the rows without {toml_text(candidate.column.path)} are ({missing} of "
        f"{rows})",
        (
            *(reading for reading, _ in figures),
            "rows of another kind, which are skipped",
            "prompts without a score",
        ),
        (
            *(line for _, line in figures),
            f"[[rows.skip]] path = {toml_text(candidate.column.path)}, null = true; "
            "and its [[scores]] below",
            "uncomment its [[scores]] below, and say there what if_null is",
        ),
    )


def nothing(table: TableProfile, fields: Fields, scores: ScoreColumns) -> Choice:
    if are_by_model(scores.offered):
        return by_model(scores.offered)
    offered = tuple(candidate.shown for candidate in scores.offered)
    is_prompt = bool({"prompt_id", "text"} & {*fields.sample})
    systems = [*of_system_columns(table, fields)]
    readings = (
        *systems,
        *of_whole(
            table, fields, [c.column for c in scores.offered if c.column.is_number]
        ),
    )
    readings += (
        *of_counts(table),
        *of_lists(table),
        *([] if is_prompt else of_object(table)),
        *in_texts(table),
    )
    readings += (*_others_of(of_verdicts(table, fields), scores.offered),)
    readings += (*of_elements(table, fields), *of_answers_by_model(table, fields))
    between = tuple(words for words, _ in readings)
    written = tuple(text for _, text in readings)
    if not offered:
        numbers = of_numbers(table, fields)
        return Choice(
            "where the scores are (no column looks like scores of prompts)",
            (
                *between,
                "a column that this draft does not "
                f"offer{f', such as {numbers}' if numbers else ''}",
                "another file holds them",
            ),
            (
                *written,
                '[[scores]] metric = "score", value = "COLUMN"; or [[published]] for '
                "figures of a whole benchmark",
            ),
        )
    how = [*_uncommented(scores.offered)]
    figures = [] if readings else list(_of_named_rows(table, fields, scores.offered))
    readings = tuple(own for own in readings if own not in systems)
    between = tuple(words for words, _ in readings)
    written = tuple(text for _, text in readings)
    figures = [*systems, *figures]
    offered = (*(words for words, _ in figures), *offered)
    how = [*(text for _, text in figures), *how]
    are_numbers = any(c.column.is_number for c in scores.offered)
    if table.is_object and between and not is_prompt:
        names = ", ".join(toml_text(c.column.name) for c in scores.offered[:OFFERED])
        last = "scores of one prompt, whose file this is" if are_numbers else _NONE
        return Choice(
            f"what the {'numbers' if are_numbers else 'words'} of the file are ({names})",
            (*between, last),
            (
                *written,
                "uncomment the [[scores]] and [metrics.NAME] of those that are"
                if are_numbers
                else _OTHER,
            ),
        )
    none = not table.is_object or not are_numbers
    return Choice(
        "whether any of these columns are scores of prompts (no name says so)",
        (*offered, *between, *[_NONE] * none),
        (*how, *written, *[_OTHER] * none),
    )


def _others_of(
    readings: Iterable[tuple[str, str]], offered: Sequence[ScoreColumn]
) -> Iterator[tuple[str, str]]:
    """The readings of columns of verdicts that are not offered themselves."""
    paths = [f"{toml_text(own.column.path)}, " for own in offered if own.are_grades]
    for words, line in readings:
        if not words.startswith(tuple(paths)):
            yield words, line


def _leaves_marks_out(candidate: ScoreColumn) -> bool:
    """True if numbers such as -1 are read as no rating."""
    nulls = candidate.keys.get("null", ())
    return bool(nulls) and all(str(text).startswith("-") for text in nulls)


def _of_marks(candidate: ScoreColumn) -> Iterator[Choice]:
    column = candidate.column
    if _leaves_marks_out(candidate):
        return  # which is said beside it
    values = column.scores
    path = toml_text(column.path)
    if values.is_marked:
        quoted = [f'"{mark:g}", "{mark}"' for mark in sorted(values.marks)]
        marks = ", ".join(quoted)
        yield Choice(
            f"what {min(values.marks):g} in {path} is, beside {values.low:g} to "
            f"{values.high:g}",
            ("no score: judging failed", "a score as the others"),
            (
                f"value = {{ path = {path}, null = [{marks}] }} in its [[scores]]",
                "leave its [[scores]] as it is",
            ),
        )


def of_missing(
    table: TableProfile, fields: Fields, scores: ScoreColumns
) -> Iterator[Choice]:
    """Rows without a score: left out, or wrong."""
    for candidate in scores.chosen:
        yield from _of_marks(candidate)
        is_asked = candidate.missing and not _leaves_marks_out(candidate)
        if is_asked and fields.metric is None:
            where = f" in the [[scores]] of {toml_text(candidate.column.path)}"
            yield what_counts(candidate.column, table, where)


def of_marks_beside(
    table: TableProfile, fields: Fields, scores: ScoreColumns
) -> Iterator[Choice]:
    """Questions whether scores are points of what each prompt gives at most."""
    for candidate in scores.chosen:
        marks = fields.marks.get(candidate.column.path)
        if marks is None:
            marks = full_marks(table, candidate.column, fields)
        if marks is not None and len(marks.values) > 1:
            yield of_full_marks(candidate.column, marks)
