"""Scores that stand otherwise than as numbers of a column: counts, lists, objects,
texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any

from warehouse.importers.tabular.column_names import (
    Grade,
    are_models,
    grade_of,
    is_metric,
    looks_like_model,
    path_of,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.drafts.apart import rows_apart
from warehouse.importers.tabular.drafts.boards import is_rate
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.record_locations import names_of_metrics
from warehouse.importers.tabular.drafts.toml import (
    inline_table,
    texts,
    toml_text,
)
from warehouse.importers.tabular.evidence import Standing
from warehouse.importers.tabular.expressions import Recode
from warehouse.importers.tabular.runs import is_summary
from warehouse.importers.tabular.verdict_words import numbers_of_some

OFFERED = 12


def of_object(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Readings of the numbers of an object by key, and how a mapping says each."""
    numbers = [
        c
        for c in table.columns
        if not c.parents and (c.is_number or c.kind == "true/false")
    ]
    if not table.is_object:
        return
    if len(numbers) < 2:
        yield from _words_by_key(table)
        return
    others = [
        column.name
        for column in table.columns
        if not column.parents and (column not in numbers or is_summary(column.name))
    ]
    others += dict.fromkeys(
        column.parents[0] for column in table.columns if column.parents
    )
    skip = ""
    if others:
        skip = f'; [[rows.skip]] path = "@key", equal_to = {texts(others)}'
    where = f'[rows] at = "{{}}"{skip}; '
    yield (
        "benchmarks by key, each with a published figure",
        f'{where}[run] benchmark = "@key", [[published]] metric = "score", value = "@"',
    )
    yield (
        "prompts by key, each with a score",
        f'{where}[sample] prompt_id = "@key", [[scores]] metric = "score", value = "@"',
    )


#: Keys from which on words may be those of prompts.
_KEYS = 8


def _words_by_key(table: TableProfile) -> Iterator[tuple[str, str]]:
    """The reading of the same few words below many keys: ``{"q1": "OK", …}``."""
    texts_of_keys = [str(c.values[0]) for c in table.columns if c.kind == "text"]
    words = [*dict.fromkeys(texts_of_keys)]
    are_all = len(texts_of_keys) == len(table.columns) >= _KEYS
    if not are_all or len(words) > _WORDS or max(map(len, words)) > _WORD:
        return
    numbers = numbers_of_some(words)
    shown = [
        f"{toml_text(word)} = {f'{numbers[word]:g}' if word in numbers else '?'}"
        for word in words
    ]
    yield (
        f"prompts by key, each with a verdict: {', '.join(map(toml_text, words))}",
        '[rows] at = "{}"; [sample] prompt_id = "@key", [[scores]] metric = "score", '
        f'value = {{ path = "@", values = {{ {", ".join(shown)} }} }}',
    )


#: Words of names of counts: generations of a prompt that were right, and all of them.
_RIGHT = frozenset("c correct passed solved succeeded successes".split())
_ALL = frozenset("n samples total trials attempts generations completions".split())


def _are_counts(column: ColumnProfile) -> bool:
    if not column.is_number or column.nulls:
        return False
    return all(number.is_integer() for number in column.numbers)


def of_counts(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Counts of right generations among all of a prompt, in words, and how a mapping
    makes a share of them."""
    whole = [column for column in table.columns if _are_counts(column)]
    named = [c for c in whole if {*words_of(c.name)} & _RIGHT]
    totals = [n for n in whole if n not in named and {*words_of(n.name)} & _ALL]
    for right, of in product(named, totals):
        if not all(
            0 <= float(c) <= float(n)
            for c, n in zip(table.values(right), table.values(of), strict=True)
        ):
            continue
        value = toml_text("COLUMN")
        n_draws = toml_text(of.path)
        how = f"write {right.path} / {of.path} into a column of the file, then "
        if len(of.values) == 1 and of.numbers[0]:
            value = inline_table({"path": right.path, "scale": 1 / of.numbers[0]})
            how = ""
        yield (
            f"{toml_text(right.path)} of {n_draws} generations of each prompt are "
            "right",
            f'{how}[[scores]] metric = "pass@1", value = {value}, n_draws = {n_draws}',
        )


def of_lists(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Columns that stand in one object as lists side by side, in words and in a
    mapping."""
    lists = [
        c
        for c in table.columns
        if table.is_object and not c.parents and c.kind == "list"
    ]
    lengths = {len(c.values[0]) for c in lists}
    if len(lists) > 1 and len(lengths) == 1:
        yield (
            "numbers of one of the lists "
            f"{', '.join(c.path for c in lists[:OFFERED])}, which lie side by side",
            '[rows] at = "SCORES[]", [[scores]] metric = "score", value = "@"; what '
            'lies beside as [sample] prompt_id = "$.IDS[@index]", what holds for all '
            'as [run] model = "$.NAME"',
        )


def of_elements(table: TableProfile, fields: Fields) -> Iterator[tuple[str, str]]:
    """Numbers, and texts that targets are, of the first object in a list of each
    record: in words, and in a mapping."""
    target = fields.sample.get("target")
    for column in table.columns:
        lists = [
            value
            for value in column.values
            if isinstance(value, list) and value and isinstance(value[0], dict)
        ]
        for key in dict.fromkeys(chain.from_iterable(items[0] for items in lists)):
            values = [items[0][key] for items in lists if key in items[0]]
            path = f"{column.path}[0].{path_of(str(key))}"
            metric = str(key)
            if grade_of(key) > Grade.NEVER and all(map(is_number, values)):
                value = toml_text(path)
                name = names_of_metrics(lists)
                if name:
                    metric = lists[0][0][name]
            elif target is not None and any(value in target.values for value in values):
                value = inline_table({"equals": [path, target.path]})
                metric = "exact_match"
            else:
                continue
            yield (
                f"{path} of each record",
                f"[[scores]] metric = {toml_text(metric)}, value = {value}",
            )


#: Different words of verdicts at most.
_VERDICTS = 8


def of_verdicts(table: TableProfile, fields: Fields) -> Iterator[tuple[str, str]]:
    """Columns of a few words of which some are verdicts, and others none that is known:
    in words, and in a mapping."""
    others = (*fields.run.values(), *fields.sample.values())
    taken = {column.path for column in others}
    for column in table.columns:
        is_small = 1 < len(column.values) <= _VERDICTS and column.kind == "text"
        is_small = is_small and not column.is_unique  # verdicts come back
        if column.path in taken or not is_small:
            continue
        numbers = numbers_of_some(column.values)
        if not numbers and _may_be_verdicts(column, fields):
            yield _unknown_verdicts(column)
        if not numbers:
            continue
        said = ", ".join(f"{word} = {number:g}" for word, number in numbers.items())
        value = inline_table({"path": column.path, "values": numbers})
        yield (
            f"{toml_text(column.path)}, in which {said}",
            f"[[scores]] metric = {toml_text(column.name)}, value = {value}",
        )


#: Words of verdicts of a kind at most, and characters of one.
_WORDS, _WORD = 5, 40


def _may_be_verdicts(column: ColumnProfile, fields: Fields) -> bool:
    """True if a few words differ between the answers to one prompt, and are no words
    that the prompt knows of."""
    texts = [str(text_of(value)) for value in column.values]
    are_words = len(texts) <= _WORDS and all(len(text) <= _WORD for text in texts)
    return are_words and fields.evidence.standing(column) is Standing.OUTCOME


def _unknown_verdicts(column: ColumnProfile) -> tuple[str, str]:
    """Words of which nobody knows which are good: in words, and in a mapping."""
    words = [toml_text(str(text_of(value))) for value in column.values]
    numbers = ", ".join(f"{word} = ?" for word in words)
    value = f"{{ path = {toml_text(column.path)}, values = {{ {numbers} }} }}"
    return (
        f"{toml_text(column.path)}, verdicts: {', '.join(words)}",
        f"[[scores]] metric = {toml_text(column.name)}, value = {value}, each ? the "
        "number that the word gets",
    )


def of_answers_by_model(
    table: TableProfile, fields: Fields
) -> Iterator[tuple[str, str]]:
    """Columns that bear the names of models and hold answers such as the targets: in
    words, and in a mapping."""
    target = fields.sample.get("target")
    if target is None:
        return
    right = {str(value) for value in target.values}
    answers = [
        column.name
        for column in table.columns
        if column.path not in fields.taken
        and looks_like_model(column.name)
        and not right.isdisjoint(map(str, column.values))
    ]
    if len(answers) > 1:
        value = inline_table({"equals": ['"{system}"', target.path]})
        yield (
            f"{', '.join(map(toml_text, answers[:OFFERED]))} are answers of models, "
            f"right where they equal {toml_text(target.path)}",
            f'[each] system = {texts(answers)}, [run] model = {{ const = "{{system}}" '
            f'}}, [[scores]] metric = "exact_match", value = {value}',
        )


def by_two_keys(model: str, benchmark: str, metric: str, value: str) -> str:
    """How a mapping takes published figures below keys of models and of benchmarks."""
    figures = f"[[published]] metric = {toml_text(metric)}, value = {toml_text(value)}"
    return (
        f'[rows] at = "{{}}{{}}", [run] model = "{model}", benchmark = "{benchmark}", '
        f"{figures}, without [sample]"
    )


def of_whole(
    table: TableProfile, fields: Fields, columns: Sequence[ColumnProfile]
) -> Iterator[tuple[str, str]]:
    """Figures of whole benchmarks, where nothing names prompts: in words, and in a
    mapping."""
    names = [column.name for column in columns]
    around = {column.parents for column in columns}
    if (
        not columns
        or fields.names_prompts
        or {"prompt_id", "response"} & {*fields.sample}
    ):
        return
    if (
        table.is_object
        and len(around) > 1
        and all(len(column.parents) == 1 for column in table.columns)
    ):
        keys = ("@key", "^@key") if are_models(names) else ("^@key", "@key")
        yield (
            "published figures, by model and benchmark",
            by_two_keys(*keys, "score", "@"),
        )
    elif not table.is_object and len(around) == 1 and len(columns) > 1:
        value = (
            "".join(f"{path_of(parent)}." for parent in columns[0].parents)
            + '"{benchmark}"'
        )
        each = (
            f"[each] benchmark = {texts(names)}, [run] benchmark = {{ const = "
            f'"{{benchmark}}" }}'
        )
        yield (
            "benchmarks, each with a published figure",
            f"{each}, [[published]] metric = \"score\", value = '{value}'",
        )
    elif not table.is_object and len(around) == 1:
        value = toml_text(columns[0].path)
        metric = toml_text(columns[0].name if is_rate(columns[0].name) else "score")
        yield (
            "published figures of whole benchmarks",
            f"{rows_apart(table, fields)}[[published]] metric = {metric}, value = "
            f"{value}{_rates_beside(table, columns)}",
        )


def _rates_beside(table: TableProfile, columns: Sequence[ColumnProfile]) -> str:
    """The further columns that are called as rates, as a line of a mapping goes on to
    say."""
    beside = [
        toml_text(own.path)
        for own in table.columns
        if own.is_number
        and own not in columns
        and own.parents == columns[0].parents
        and (is_rate(own.name) or is_metric(own.name))
        and not own.is_counted
    ]
    return f"; one more for each of {', '.join(beside)}" if beside else ""


def of_numbers(table: TableProfile, fields: Fields) -> str:
    """Which columns of numbers a draft does not offer."""
    free = [
        c
        for c in table.columns
        if c.is_number
        and c.path not in fields.taken
        and grade_of(c.name) > Grade.NEVER
        and not c.path.endswith("@key")
    ]
    offered = [f"{c.path} ({range_of(c)})" for c in free[:OFFERED]]
    return ", ".join(offered)


def in_texts(table: TableProfile) -> Iterator[tuple[str, str]]:
    """Numbers in objects that stand as text in a cell, as JSON or as Python has them,
    by what their names say: in words, and in a mapping."""
    if not table.is_flat:
        return
    for column in table.columns:
        objects = _objects(column)
        found: dict[str, None] = {}
        for item in objects:
            numbers = [name for name, value in item.items() if is_number(value)]
            found |= dict.fromkeys(numbers)
        named = [
            name for name in found if grade_of(name, (column.name,)) >= Grade.LIKELY
        ]
        for name in named[:OFFERED]:
            quote = "'"
            if f'"{name}"' in str(column.values[0]):
                quote = '"'
            pattern = rf"{quote}{re.escape(name)}{quote}:\s*([^,}}\s]+)"
            value = inline_table({"path": column.path, "pattern": pattern})
            yield (
                f"{name} in the texts of {toml_text(column.path)}",
                f"[[scores]] metric = {toml_text(name)}, value = {value}",
            )


def _objects(column: ColumnProfile) -> list[Mapping[str, Any]]:
    """The values, where each is the text of an object."""
    if column.kind != "text" or not all(
        str(value).lstrip().startswith("{") for value in column.values
    ):
        return []
    parsed = [Recode(json=True).apply(str(value)) for value in column.values]
    if all(isinstance(value, dict) for value in parsed):
        return parsed
    return []


def is_number(value: Any) -> bool:
    """True if a value is a number or a truth value."""
    return isinstance(value, int | float)


def range_of(column: ColumnProfile) -> str:
    """The least and the greatest number of a column; a few of its texts where it has no
    numbers."""
    if numbers := column.numbers:
        return f"{min(numbers):g} to {max(numbers):g}"
    texts = [str(text_of(value))[:20] for value in column.values[:4]]
    return ", ".join(texts) or "nothing"
