"""Columns of several systems side by side: ``base_accuracy``, ``base_style``,
``tuned_accuracy``, ``tuned_style``. Each name begins (or ends) with a system, and each
system has the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warehouse.importers.tabular.column_names import is_metric, words_of
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import is_verdict
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import inline_table, texts, toml_text
from warehouse.importers.tabular.verdict_words import numbers_of_words

#: The greatest step of ratings.
_STEPS = 10
#: Words by which columns say what a system said.
_SAID = frozenset("answer output response prediction completion generation".split())
#: Words of names that are no systems.
_NO_SYSTEMS = frozenset(
    "input output prompt total mean avg average min max median std num n count judge "
    "rater annotator grader expert gold expected reference target question answer is has "
    "final first last train test dev val".split()
)
#: Words that name no metric of their own.
_OF_ANY = frozenset("score scores value rating grade result".split())
#: Systems at most.
_SYSTEMS = 8


def of_system_columns(table: TableProfile, fields: Fields) -> Iterator[tuple[str, str]]:
    """The reading that names of columns begin or end with systems, of which each has the
    same columns: in words, and in a mapping."""
    if "model" in {**fields.run, **fields.document}:
        return
    for form in ("{system}_{rest}", "{rest}_{system}"):
        by_system = _by_system(table, form)
        if not by_system:
            continue
        first = next(iter(by_system.values()))
        scored = [rest for rest, own in first.items() if _may_be_scores(own)]
        if not scored or not _are_of_systems([*by_system], [*first], scored):
            continue
        yield _reading(form, [*by_system], {rest: first[rest] for rest in scored})
        return


def _by_system(table: TableProfile, form: str) -> dict[str, dict[str, ColumnProfile]]:
    """Columns by what they are called by system, where two systems or more have columns
    of the same names and kinds."""
    found: dict[str, dict[str, ColumnProfile]] = {}
    for column in table.columns:
        if column.parents or "_" not in column.name:
            continue
        if form.startswith("{system}"):
            system, _, rest = column.name.partition("_")
        else:
            rest, _, system = column.name.rpartition("_")
        found.setdefault(system, {})[rest] = column
    shared: dict[frozenset[str], list[str]] = {}
    for system, columns in found.items():
        shared.setdefault(frozenset(columns), []).append(system)
    for names, systems in shared.items():
        if len(names) > 1 and 2 <= len(systems) <= _SYSTEMS:
            return {system: found[system] for system in systems}
    return {}


def _are_of_systems(
    systems: Sequence[str], rests: Sequence[str], scored: Sequence[str]
) -> bool:
    """True if what differs may be systems, and what they have in common is what they
    said, or several metrics."""
    if any(is_metric(name) or {*words_of(name)} & _NO_SYSTEMS for name in systems):
        return False
    is_said = any({*words_of(rest)} & _SAID for rest in rests)
    named = [rest for rest in scored if is_metric(rest) and rest not in _OF_ANY]
    return is_said or len(scored) > 1 and bool(named)


def _may_be_scores(column: ColumnProfile) -> bool:
    """True if values are right and wrong, or steps of a scale, or shares."""
    if is_verdict(column):
        return column.kind != "text" or bool(numbers_of_words(column.values))
    if not column.is_number or not column.numbers:
        return False
    return min(column.numbers) >= 0 and max(column.numbers) <= _STEPS


def _reading(
    form: str, systems: Sequence[str], scored: dict[str, ColumnProfile]
) -> tuple[str, str]:
    names = " and ".join(map(toml_text, systems))
    metrics = " and ".join(scored)
    values = [_value(form, rest, column) for rest, column in scored.items()]
    pairs = zip(scored, values, strict=True)
    lines = [f"metric = {toml_text(rest)}, value = {value}" for rest, value in pairs]
    return (
        f"{names} are models or systems, each with {metrics}",
        f"[each] system = {texts(systems)}, with [run] model = {{ const = "
        f'"{{system}}" }} and a [[scores]] for each of: {"; ".join(lines)}',
    )


def _value(form: str, rest: str, column: ColumnProfile) -> str:
    """The expression for the scores of a system."""
    path = f'"{form.replace("{rest}", rest)}"'
    if column.kind == "text":
        words = numbers_of_words(column.values)
        return inline_table({"path": path, "values": words})
    return toml_text(path)
