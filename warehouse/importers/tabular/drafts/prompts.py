"""Columns that tell prompts and draws apart, in a mapping that is begun."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from warehouse.importers.tabular.column_names import (
    ID_NAMES,
    SAMPLE_NAMES,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import (
    Fields,
)
from warehouse.importers.tabular.drafts.composed_ids import of_composed_ids
from warehouse.importers.tabular.drafts.crossed import (
    crossed_pair,
    numbered,
    several_times,
    which_condition,
    which_pair,
)
from warehouse.importers.tabular.drafts.looks import are_times, shown_text
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.row_readings import (
    RepeatedRows,
    are_answers,
    what_repeats_are,
    which_rows,
)
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    texts,
    toml_text,
)

#: Names of columns that number the generations of a prompt.
DRAWS = (
    "draw",
    "trial",
    "attempt",
    "repeat",
    "repetition",
    "rollout",
    "epoch",
    "generation_index",
    "sample_index",
    *("run_idx", "run_index", "sample_idx", "trial_idx", "attempt_idx", "repeat_idx"),
    *("replicate", "rep", "sample"),
)
#: Ids as programs draw them: many hexadecimal digits, with a word before them or not,
#: or letters and digits mixed.
_DRAWN = re.compile(
    r"(?:\w{1,20}[-_])?(?:[0-9a-f]{20,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|"
    r"[a-z]{2,9}[-_]?(?=[^-_]*\d)(?=[^-_]*[A-Z])[0-9A-Za-z]{14,40}",
    re.IGNORECASE,
)


def named_as(
    columns: Sequence[ColumnProfile], names: Collection[str]
) -> ColumnProfile | None:
    """The column that lies highest under one of some names, the likeliest of them
    first."""
    order = {name: number for number, name in enumerate(names)}
    called = [(own, _called(own.name, order)) for own in columns]
    candidates = [(c.depth, order[name], c) for c, name in called if name in order]
    if candidates:
        return min(candidates, key=lambda item: item[:2])[2]
    return None


def _settle_ids(
    table: TableProfile,
    columns: Sequence[ColumnProfile],
    fields: Fields,
    column: ColumnProfile,
    content: Sequence[str],
) -> None:
    """Keep the column of ids, or give it up: for texts that tell prompts apart, where
    ids are those of rows, or where that is to be asked.

    Args:
        content: the fields of the content.
    """
    if "text" in fields.sample:
        verdict = _ids_against_texts(table, fields)
        if verdict != "ids":
            del fields.sample["prompt_id"]
        if verdict == "either":
            fields.choices.append(_which_key(column, content))
        elif verdict == "texts":
            fields.why_not[column.path] = (
                "prompt_id: the same prompt has several, or several prompts the same"
            )
    elif _is_drawn(table, fields, column):
        _replace_drawn(table, columns, fields, column)
    elif column.is_unique and len(getattr(fields.run.get("model"), "values", ())) > 1:
        del fields.sample["prompt_id"]
        fields.choices.append(_which_ids(column))
    elif "model" not in {**fields.run, **fields.document}:
        _ask_of_parts(table, column, columns, fields)


def _called(name: str, known: Collection[str]) -> str:
    """A name as it is compared with others: ``modelId`` is ``model_id`` where that is
    known."""
    plain = plain_name(name)
    is_of_programs = re.fullmatch(r"[a-z]+([A-Z][a-z]*)+", name)
    if plain in known or not is_of_programs:
        return plain
    return "_".join(words_of(name))


def settle_prompts(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """Find the columns that tell prompts apart, and the generations of one."""
    content = tuple(name for name in ("text", "target") if name in fields.sample)
    column = fields.sample.get("prompt_id")
    if column is not None:
        _settle_ids(table, columns, fields, column, content)
    if (
        not {"prompt_id", "position"} & {*fields.sample}
        and not fields.parts
        and not fields.choices
        and "text" in fields.sample
    ):
        fields.key = content
    _settle_draws(table, columns, fields)
    _settle_people(table, fields)
    if (
        fields.key
        and not fields.choices
        and not table.location.draws
        and not fields.draw
        and "draw" not in fields.sample
        and fields.metric is None
    ):
        _settle_repeated(table, fields)


def _ask_of_parts(
    table: TableProfile,
    ids: ColumnProfile,
    columns: Sequence[ColumnProfile],
    fields: Fields,
) -> None:
    """Take ids for no prompts where a name is a part of each, and ask what it names."""
    free = [own for own in columns if own.path not in fields.taken]
    question = of_composed_ids(table, ids, free, fields.run)
    if question is not None:
        del fields.sample["prompt_id"]
        fields.choices.append(question)


def _replace_drawn(
    table: TableProfile,
    columns: Sequence[ColumnProfile],
    fields: Fields,
    column: ColumnProfile,
) -> None:
    """Another column that names prompts in place of ids that look drawn."""
    free = [
        c for c in columns if c.path not in fields.taken and c.depth <= column.depth
    ]
    others = [c for c in free if not _is_drawn(table, fields, c)]
    names = ("prompt_id", *SAMPLE_NAMES["prompt_id"], *ID_NAMES)
    other = named_as(others, names) or next(
        (c for c in others if _ends_with_id(c)), None
    )
    if other is None and column.depth:  # rows of one prompt, whose numbers tell nothing
        fields.choices.append(_which_ids(column))
        return
    del fields.sample["prompt_id"]
    fields.why_not[column.path] = "prompt_id: looks drawn for each row"
    if other is not None:
        fields.sample["prompt_id"] = other


def _settle_repeated(table: TableProfile, fields: Fields) -> None:
    """Rows of one run with the same content are generations of a prompt, or prompts
    that happen to be equal."""
    apart = [fields.sample[name] for name in fields.key]
    others = (*fields.run.values(), *fields.scorers.columns, fields.filter)
    apart += [column for column in others if column is not None]
    rows = rows_told(table, apart)
    repeated = len(rows) - len({*rows})
    keyed = next((c for c in table.columns if c.path == "@key"), None)
    if repeated and keyed is not None and not _repeat_evenly(rows):
        fields.sample["prompt_id"] = keyed
        fields.key = ()
    elif repeated:
        key, fields.key = fields.key, ()
        fields.choices.append(what_repeats_are(table, key, rows))


def _repeat_evenly(rows: Sequence[Any]) -> bool:
    """True if all rows stand equally often, as draws of prompts do."""
    return len({*Counter(rows).values()}) == 1


def _which_key(column: ColumnProfile, content: Sequence[str]) -> Choice:
    path = toml_text(column.path)
    return Choice(
        f"what tells prompts apart: {path} differs where the content is the same",
        (f"each {path} is a prompt", "prompts of the same content are one prompt"),
        (f"[sample] prompt_id = {path}", f"key = {texts(content)}"),
    )


def _which_ids(column: ColumnProfile) -> Choice:
    path = toml_text(column.path)
    return Choice(
        f"what tells prompts apart: {path} is another in each row, so that no two "
        "models have a prompt in common",
        (
            f"each {path} is a prompt, of one model only",
            "another column, or part of this one, names the prompts",
        ),
        (
            f"[sample] prompt_id = {path}",
            '[sample] prompt_id = "COLUMN", or { path = "COLUMN", pattern = "…" }',
        ),
    )


def _ids_against_texts(table: TableProfile, fields: Fields) -> str:
    """The word for what tells prompts apart, ``ids`` or ``texts``, or ``either``
    may."""
    column = fields.sample["prompt_id"]
    text = fields.sample["text"]
    if _is_drawn(table, fields, column):
        return "texts"
    is_empty = np.array([value == "" for value in (*text.values, "")])
    filled = ~is_empty[text.codes]  # the others are of a row that failed, say
    pairs = np.unique(np.stack([column.codes, text.codes])[:, filled], axis=1)
    texts_of_id = np.unique(pairs[0], return_counts=True)[1]
    ids_of_text = np.unique(pairs[1], return_counts=True)[1]
    if (texts_of_id > 1).sum() * 20 > texts_of_id.size:
        return "texts"
    if (ids_of_text > 1).sum() * 20 > ids_of_text.size:
        return "either"
    return "ids"


def _ends_with_id(column: ColumnProfile) -> bool:
    """True if a name ends with that of an id of prompts: ``datasource_item_id``,
    ``datasetItemId``."""
    endings = tuple(f"_{name}" for name in ID_NAMES if "_" in name)
    name = "_".join(words_of(column.name))
    return len(column.values) > 1 and name.endswith(endings)


def _is_drawn(table: TableProfile, fields: Fields, column: ColumnProfile) -> bool:
    """True if ids look drawn for each record, which has a row of each metric, or for
    what rows lie in."""
    if not all(_DRAWN.fullmatch(shown_text(value)) for value in column.values):
        return False
    if _is_hash_of_prompt(column):
        return False
    if column.is_unique or column.path.startswith("^"):
        return True
    parts = (column, fields.metric, fields.filter, *fields.scorers.columns)
    apart = [part for part in parts if part is not None]
    return len({*rows_told(table, apart)}) == table.rows


#: A hash of a content, and words of what it may be of.
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_OF_PROMPTS = frozenset(
    "prompt question problem item task example instance document doc".split()
)


def _is_hash_of_prompt(column: ColumnProfile) -> bool:
    """True if ids are called as those of prompts, and are hashes of a content rather
    than drawn: ``prompt_id``, of 64 hexadecimal digits each."""
    is_called = bool({*words_of(column.name)} & _OF_PROMPTS)
    return is_called and all(_HASH.fullmatch(shown_text(v)) for v in column.values)


def _settle_draws(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that numbers the generations of a prompt, where rows of one are told
    apart by it alone."""
    if table.location.draws or "draw" in fields.sample or fields.choices:
        return
    names = fields.key or ("prompt_id",)
    prompts = [fields.sample[name] for name in names if name in fields.sample]
    prompts = prompts or [*fields.parts]
    if not prompts or table.rows < 2:
        return
    others = [c for name, c in fields.run.items() if plain_name(c.name) not in DRAWS]
    told = (fields.metric, fields.filter, *fields.scorers.columns)
    others += [column for column in told if column is not None]
    numbers = [c for c in columns if c.is_number and c.path not in fields.sample]
    turn, column = named_as(numbers, ("turn",)), named_as(numbers, DRAWS)
    rows = rows_told(table, (*prompts, *others))
    if len({*rows}) == len(rows):
        seed = fields.run.get("training_seed")
        rows = rows_told(
            table, (*prompts, *(other for other in others if other is not seed))
        )
        if (
            seed is None
            or plain_name(seed.name) != "seed"
            or column is None
            or len({*rows}) == len(rows)
        ):
            return
        # each repeat has its seed: one of sampling
        if tells_apart(table, rows, column):
            del fields.run["training_seed"]
    if turn is not None and not fields.key and tells_apart(table, rows, turn):
        fields.turn = turn
        return
    if column is None or not tells_apart(table, rows, column):
        _ask_what_tells_apart(table, columns, rows, prompts, fields)
        return
    draw = numbered(column)
    if fields.run.get("epoch") is column:
        del fields.run["epoch"]
        fields.choices.append(
            Choice(
                f"what {toml_text(column.path)} counts",
                (
                    "generations of each prompt",
                    "epochs of training, each a run of its own",
                ),
                (f"[sample] draw = {draw}", f"[run] epoch = {toml_text(column.path)}"),
            )
        )
    else:
        fields.draw = draw


def _ask_what_tells_apart(
    table: TableProfile,
    columns: Sequence[ColumnProfile],
    rows: Sequence[Any],
    prompts: Sequence[ColumnProfile],
    fields: Fields,
) -> None:
    """A question what a column, or two, are that tell apart rows of one prompt."""
    repeated = len(rows) - len({*rows}), len(rows)
    asked = fields.scorers.asked
    taken = fields.taken - {c.path for c in (*fields.metadata.values(), *asked)}
    is_in_list = any(own.path.startswith("^.") for own in prompts)
    free = [
        c
        for c in columns
        if c.path not in taken
        and not c.nulls
        and not is_metric(c.name)
        and not are_answers(c)
        # those above are asked about
        and (c.path.lstrip("^") != "@key" or c.path == "@key" and is_in_list)
    ]
    paths = [c.path for c in prompts]
    most = len({*rows}) // 2
    few = [
        c
        for c in free
        if len(c.values) > 1 and (len(c.values) <= most or c.path == "@key")
    ]
    apart = [c for c in few if tells_apart(table, rows, c)]
    if apart:
        of_one = min(apart, key=lambda c: (c not in asked, len(c.values)))
        fields.scorers.asked = [column for column in asked if column is not of_one]
        if _is_set(table, of_one):
            fields.was_set = of_one
        has_model = "model" in fields.run
        told = RepeatedRows(table, rows, paths, has_model, is_scorer=of_one in asked)
        fields.choices.append(which_rows(of_one, told, fields.sample.get("response")))
    elif pair := crossed_pair(table, rows, free):
        fields.choices.append(which_pair(pair, prompts, *repeated))
    elif conditions := several_times(table, rows, free):
        fields.choices.append(
            which_condition(conditions, paths, repeated, "model" in fields.run)
        )


def _settle_people(table: TableProfile, fields: Fields) -> None:
    """Settle whether rows are told apart by the person alone who scored."""
    people = fields.scorers.people
    names = fields.key or ("prompt_id",)
    prompts = [fields.sample[name] for name in names if name in fields.sample]
    if people is None or not prompts or fields.draw or "draw" in fields.sample:
        return
    told = (fields.metric, fields.filter, *fields.run.values(), *fields.scorers.columns)
    others = [column for column in told if column is not None and column is not people]
    rows = rows_told(table, (*prompts, *others))
    are_twice = len({*rows}) < len(rows)
    fields.scorers.are_draws = are_twice and tells_apart(table, rows, people)


def rows_told(
    table: TableProfile, columns: Sequence[ColumnProfile]
) -> list[tuple[str, ...]]:
    return list(
        zip(*(map(shown_text, table.values(column)) for column in columns), strict=True)
    )


def _is_set(table: TableProfile, column: ColumnProfile) -> bool:
    """True if a column has each of its values in as many rows."""
    counts = Counter(map(shown_text, table.values(column)))
    return len({*counts.values()}) == 1


def tells_apart(
    table: TableProfile, rows: Sequence[Any], column: ColumnProfile
) -> bool:
    """True if a column tells rows apart that are equal without it."""
    texts = map(shown_text, table.values(column))
    return len({*zip(rows, texts, strict=True)}) == len(rows)


def other_ids(table: TableProfile, fields: Fields) -> Iterator[ColumnProfile]:
    """Further columns that have a value of their own in each row."""
    for column in table.columns:
        is_free = column.path not in fields.taken and not are_times(column)
        if is_free and column.is_unique and not column.parents:
            yield column
