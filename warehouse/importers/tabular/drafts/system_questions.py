"""Questions about columns that belong to systems: one for each model, or the same name in
the objects of several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os.path import commonprefix

from warehouse.importers.tabular.column_names import (
    are_models,
    are_numbered,
    is_metric,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.drafts.answers import ScoreColumn
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.other_scores import by_two_keys
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    texts,
    toml_text,
)

#: Names that say nothing of what was measured, where the objects around them may.
_GENERIC = frozenset(
    "value score scores result results data metrics metric evaluation evaluations review sample_score".split()
)


def are_systems(candidates: Sequence[ScoreColumn]) -> bool:
    """True if columns have one name in different objects, which then may be different
    systems."""
    names = {plain_name(candidate.column.name) for candidate in candidates}
    return len(candidates) > 1 and len(names) == 1 and not names & _GENERIC


def are_by_model(candidates: Sequence[ScoreColumn]) -> bool:
    """True if columns of one object have names of models, with the name of a metric
    before or after them or not."""
    names = _between_affixes([candidate.column.name for candidate in candidates])[1]
    around = {candidate.column.parents for candidate in candidates}
    return (
        len(names) > 1
        and len(around) == 1
        and are_models(names)
        and not are_numbered(names)
        and not any(map(is_metric, names))
    )


def _between_affixes(names: Sequence[str]) -> tuple[str, list[str], str]:
    """Names divided into what they begin with, where they differ, and what they end
    with: ``a_correct``, ``b_correct``. Beginnings and ends that are no name of a metric
    belong to what differs."""
    start = re.sub(r"[^_. /-]*$", "", commonprefix(names))
    backwards = commonprefix([name[::-1] for name in names])
    end = re.sub(r"^[^_. /-]*", "", backwards[::-1])
    if not is_metric(start):
        start = ""
    if not is_metric(end):
        end = ""
    middles = [name[len(start) : len(name) - len(end)] for name in names]
    return start, middles, end


def by_model(candidates: Sequence[ScoreColumn]) -> Choice:
    start, systems, end = _between_affixes(
        [candidate.column.name for candidate in candidates]
    )
    names = ", ".join(map(toml_text, systems))
    parents = candidates[0].column.parents
    around = "".join(f"{path_of(parent)}." for parent in parents)
    return Choice(
        f"what {names} are, of which each prompt has a score",
        ("models", "metrics of one model"),
        (
            f'[each] system = [{names}], with [run] model = {{ const = "{{system}}" }} '
            "and one [[scores]] with "
            f"value = '{around}\"{start}{{system}}{end}\"'",
            "uncomment the [[scores]] of each",
        ),
    )


def systems(table: TableProfile, candidates: Sequence[ScoreColumn]) -> Choice:
    around = [
        candidate.column.parents[-1]
        for candidate in candidates
        if candidate.column.parents
    ]
    name = candidates[0].column.name
    between = ["different models", "different metrics of one model"]
    written = [
        f"[each] system = [{', '.join(map(toml_text, around))}], with [run] model = "
        f'{{ const = "{{system}}" }} and one [[scores]] with value = '
        f'"{{system}}.{name}"{_also_in(table, candidates)}',
        "uncomment the [[scores]] of each",
    ]
    if table.rows == 1 and not table.location.at and candidates[0].column.parents:
        at = "".join(
            f"{path_of(parent)}." for parent in candidates[0].column.parents[:-1]
        ).removesuffix(".")
        figure = toml_text(path_of(name))
        beside = (
            ()
            if at
            else {(*column.parents, column.name)[0]: None for column in table.columns}
        )
        others = texts(key for key in beside if key not in around)
        skip = ""
        if others != "[]":
            skip = f'[[rows.skip]] path = "@key", equal_to = {others}, '
        between.append("benchmarks, of which figures are published")
        written.append(
            f'[rows] at = {toml_text(f"{at}{{}}")}, {skip}[run] benchmark = "@key", '
            f"[[published]] metric = {toml_text(name)}, value = {figure}; what stands "
            'beside as "$.NAME", such as model = "$.model"'
        )
    elif table.location.at == "{}" and {
        len(candidate.column.parents) for candidate in candidates
    } == {1}:
        between.append(
            "benchmarks of the models that the keys around them name, with published "
            "figures"
        )
        written.append(by_two_keys("^@key", "@key", name, path_of(name)))
    what = (
        f"what {', '.join(map(toml_text, around[:4]))} are, each of which has its own "
        f"{toml_text(name)}"
    )
    return Choice(what, tuple(between), tuple(written))


def _also_in(table: TableProfile, candidates: Sequence[ScoreColumn]) -> str:
    """The further numbers that all of some objects have, as a line of a mapping goes on
    to say."""
    around = [candidate.column.parents for candidate in candidates]
    by_name: dict[str, set[tuple[str, ...]]] = {}
    for column in table.columns:
        if column.is_number and column.parents in around:
            by_name.setdefault(column.name, set()).add(column.parents)
    known = {candidate.column.name for candidate in candidates}
    common = [name for name, own in by_name.items() if own == {*around}]
    more = [f'"{{system}}.{name}"' for name in common if name not in known]
    return f", and one more for each of {', '.join(more)}" if more else ""


def of_systems_beside(
    fields: Fields, candidates: Sequence[ScoreColumn]
) -> Iterator[tuple[str, str]]:
    """The reading that columns of verdicts are those of a system each, where none names
    the model, and all are read alike."""
    columns = [candidate.column for candidate in candidates]
    are_alike = len(columns) > 1 and all(own.is_truth for own in candidates)
    is_flat = not any(column.parents for column in columns)
    if "model" in fields.run or not are_alike or not is_flat:
        return
    start, systems, end = _between_affixes([column.name for column in columns])
    path = toml_text(f'"{start}{{system}}{end}"')
    words: dict[str, float] = {}
    for candidate in candidates:
        words |= candidate.keys.get("values", {})
    value = inline_table({"path": f'"{start}{{system}}{end}"', "values": words})
    yield (
        "each is of a model or condition of its own, and scored alike",
        f"[each] system = {texts(systems)}, with [run] model = {{ const = "
        f'"{{system}}" }} and one [[scores]] with value = {value if words else path}',
    )
