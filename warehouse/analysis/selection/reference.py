"""Which run is "model A": the reference grammar that all commands share.

``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``. MODEL, REVISION and AGENT may be
globs; MODEL is the whole name, or what follows its last slash; where no model is called
so, a recipe, alone or behind its model (``mix-a``, ``olmo-150M mix-a``). Conditions
such as ``temperature=0.8`` narrow what a reference means; ``name=`` asks for a setting
that is not set, ``name!=value`` excludes. ``parameter_count=1.4B`` and ``tokens=29B``
fit every number that rounds to it (K, M, B, T).
"""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import runs_on
from warehouse.analysis.selection.conditions import (
    Condition,
    Run,
    group_runs,
    label_conditions,
    read_runs,
)
from warehouse.analysis.selection.reference_text import (
    Reference,
    Where,
    parse_reference,
    parse_where,
)
from warehouse.analysis.selection.scorers import Scorer, scorers_of, taken_in_words
from warehouse.errors import MisuseError, did_you_mean
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.words import some_of

_log = logging.getLogger(__name__)
_MODELS = (
    "select model_id, model, model_recorded, recipe, count(*) as n_runs from "
    "run_current group by 1, 2, 3, 4"
)
_OF_RECIPE = "recipe = :name or model || ' ' || recipe = :name"
#: Runs that are read in the time that planning their view takes.
_FEW_RUNS = 5_000
_GLOB = re.compile(r"[*?\[]")


def find_conditions(
    store: Store,
    text: str,
    *,
    benchmark_ids: Sequence[int] | None = None,
    where: Sequence[Where] = (),
) -> list[Condition]:
    """All conditions that a reference means.

    Args:
        benchmark_ids: only runs on these; None for all benchmarks.
        where: what they must fulfil besides.

    Raises:
        MisuseError: nothing fits, or a short name means several models; says what comes
            close.
    """
    readings = parse_reference(text)
    if readings[0].run is None:
        candidates = _runs_of(store, text, readings)
    else:
        candidates = [read_runs(store, "run_id in (:ids)", {"ids": [readings[0].run]})]
    for runs in candidates:
        fitting = [run for run in runs if _is_chosen(run, benchmark_ids, where)]
        if fitting:
            return group_runs(fitting)
    filters_in_words = [
        f"{criterion.name}{'=' if criterion.equal else '!='}{criterion.value}"
        for criterion in where
    ]
    there = ""
    if benchmark_ids is not None:
        there = f" on {_benchmark_name(store, benchmark_ids)}"
    narrowed = ""
    if filters_in_words:
        narrowed = f" with {', '.join(filters_in_words)}"
    hint = hint_on_values(where, list(chain.from_iterable(candidates)))
    raise MisuseError(
        f"{text!r} has no current run{there}{narrowed}; {hint or 'see: warehouse list runs'}"
    )


def conditions_on(
    store: Store, benchmark_ids: Sequence[int], name: str, where: Sequence[str]
) -> list[Condition]:
    """`choose_conditions` among the current runs on some benchmarks."""
    return choose_conditions(runs_on(store, benchmark_ids), name, where)


def choose_conditions(
    all_runs: Sequence[Run], name: str, where: Sequence[str], latest: bool = False
) -> list[Condition]:
    """Conditions on a benchmark that match ``where``; with ``latest`` only the newest
    of each model.

    Args:
        all_runs: the current runs on the benchmark.
        name: of the benchmark.

    Raises:
        MisuseError: an unknown field, or there is none.
    """
    filters = parse_where(where)
    runs = []
    for run in all_runs:
        if all(criterion.holds(run) for criterion in filters):
            runs.append(run)
    if not runs:
        narrowed = ""
        if where:
            narrowed = f" with {', '.join(where)}"
        hint = hint_on_values(filters, all_runs) or "see: warehouse list runs"
        raise MisuseError(f"{name} has no current run{narrowed}; {hint}")
    conditions = group_runs(runs)
    if latest:
        return _newest_of_each(conditions)
    return conditions


def _newest_of_each(conditions: Iterable[Condition]) -> list[Condition]:
    ordered = sorted(conditions, key=lambda item: item.newest)
    groups = grouped(
        ordered, lambda condition: (condition.model, condition.setting("split"))
    )
    return [_newest(members) for members in groups.values()]


def _newest(conditions: Sequence[Condition]) -> Condition:
    newest = max(conditions, key=lambda condition: condition.newest)
    return replace(
        newest, others=tuple(other for other in conditions if other is not newest)
    )


def hint_on_values(where: Sequence[Where], runs: Sequence[Run]) -> str:
    """For conditions that no run fulfils, the values that are nearly the one asked for;
    else empty."""
    hints = []
    for criterion in where:
        if criterion.equal and not any(criterion.holds(run) for run in runs):
            values = set(
                chain.from_iterable(_texts(run[criterion.name]) for run in runs)
            )
            close = did_you_mean(criterion.value, values, "")
            if close:
                hints += [f"no {criterion.name} is {criterion.value!r}: {close}"]
    return "; ".join(hints)


def _texts(value: Any) -> tuple[str, ...]:
    """The values of a column as texts; none for one that says nothing."""
    if isinstance(value, tuple):
        return value
    if value in (None, ""):
        return ()
    return (str(value),)


def _benchmark_name(store: Store, benchmark_ids: Sequence[int]) -> str:
    query = "select distinct name from benchmark where id in (:ids) order by name"
    rows = store.rows(query, {"ids": benchmark_ids})
    if len(rows) == 1:
        return str(rows[0]["name"])
    return "these benchmarks"


@dataclass(frozen=True)
class Choice:
    """One condition that a reference may mean."""

    text: str  #: the reference, as given.
    benchmark: str  #: on which it may mean it.
    run: str  #: a reference that means nothing else: ``run:7``.
    words: str  #: settings that tell it from the others.


#: Lines that the message of an open choice has.
_MOST_LINES = 10


class OpenChoiceError(MisuseError):
    """A reference that may mean several conditions.

    Attributes:
        choices: what each may mean.
    """

    def __init__(self, message: str, choices: Sequence[Choice]) -> None:
        super().__init__(message)
        self.choices = tuple(choices)


def _choices(
    text: str,
    split: BenchmarkSplit,
    conditions: Sequence[Condition],
    labels: Sequence[str],
) -> list[Choice]:
    """What a reference may mean on one benchmark and split."""
    found = []
    for condition, label in zip(conditions, labels, strict=True):
        words = label or condition.model
        found.append(Choice(text, split[0], f"run:{condition.run_ids[0]}", words))
    return found


def pick_one(
    store: Store, conditions: Sequence[Condition], text: str, *, latest: bool = False
) -> Condition:
    """The one condition that is meant.

    Args:
        conditions: the candidates, at least one, on one benchmark and split.
        latest: take the one that ran last instead of asking.

    Raises:
        OpenChoiceError: there are several; lists them with references that tell them
            apart.
    """
    conditions = _of_one_scorer(store, conditions)
    if len(conditions) == 1 or latest:
        return _newest(conditions)
    labels = label_conditions(store, conditions)
    lines = []
    for condition, label in zip(conditions, labels, strict=True):
        words = ", ".join(filter(None, (condition.model, label)))
        lines.append(f"  {_exact(condition)}  {words}")
    if len(lines) >= _MOST_LINES:
        n_more = len(lines) - _MOST_LINES + 2
        lines = [*lines[: _MOST_LINES - 2], f"  ... {n_more} more"]
    split = conditions[0].benchmark_split
    ways = (
        "choose one as run:ID, narrow it with --where field=value, or take the newest"
    )
    checkpoint = _last_checkpoint([conditions])
    if checkpoint:
        ways = (
            f"choose one as {text}@{checkpoint} or run:ID, or take the last checkpoint"
        )
    raise OpenChoiceError(
        f"{text!r} means {len(conditions)} conditions on {in_words(split)}; {ways} with "
        "--latest:\n" + "\n".join(lines),
        _choices(text, split, conditions, labels),
    )


def read_all_runs(store: SharedReads) -> None:
    """Have the runs of all models read together, where they are few: planning takes
    longer than reading so many."""
    models = store.rows(_MODELS)
    if sum(row["n_runs"] for row in models) <= _FEW_RUNS:
        store.begin_block(model_id={row["model_id"] for row in models})


def _runs_of(store: Store, text: str, readings: Sequence[Reference]) -> list[list[Run]]:
    """Runs for each reading that names an existing model, else a recipe (MisuseError:
    no reading does)."""
    ids_by_name: dict[str, set[int]] = {}
    models_of_recipe: dict[str, dict[int, str]] = {}
    for row in store.rows(_MODELS):
        for name in (row["model"], row["model_recorded"]):
            ids_by_name.setdefault(name, set()).add(row["model_id"])
        if row["recipe"]:
            models_of_recipe.setdefault(row["recipe"], {})[row["model_id"]] = row[
                "model"
            ]
    by_reading = []
    for reading in readings:
        models = _matching(reading.model, ids_by_name)
        others = [
            name
            for id, name in models_of_recipe.get(reading.model, {}).items()
            if models and id not in models
        ]
        if others:  # before the model came, the recipe was meant
            shown = some_of(
                [f"{name} {reading.model}" for name in sorted(others)], NAMED
            )
            _log.warning(
                "note: %r is taken for the model; as a recipe say %s",
                reading.model,
                shown,
            )
        runs = (
            read_runs(
                store, "model_id in (:model_ids)", {"model_ids": models}, per="model_id"
            )
            if models
            else []
        )
        by_reading += [[run for run in runs if _fits(reading, run)]] if models else []
    if by_reading:
        return by_reading
    for reading in readings:
        runs = read_runs(store, _OF_RECIPE, {"name": reading.model})
        by_reading += [[run for run in runs if _fits(reading, run)]] if runs else []
    if by_reading:
        return by_reading
    if text.startswith("run:"):
        raise MisuseError(
            f"{text!r}: run: goes with a number, such as run:7; see: warehouse list runs"
        )
    raise _no_model(store, text, ids_by_name)


def _no_model(store: Store, text: str, names: Mapping[str, object]) -> MisuseError:
    """That no model is called so; a benchmark may be, which is named otherwise."""
    said = f"no model with runs is called {text!r}"
    if store.rows("select id from benchmark where name = :name", {"name": text}):
        return MisuseError(
            f"{said}: it is a benchmark, and goes with --benchmark or behind the "
            "models; see: warehouse list models"
        )
    hint = did_you_mean(text, names, "see: warehouse list models")
    return MisuseError(f"{said}; {hint}")


def _matching(pattern: str, ids_by_name: Mapping[str, set[int]]) -> list[int]:
    """Ids of the models whose name is the pattern; else its last part; else that the
    glob fits."""
    if pattern in ids_by_name:
        return sorted(ids_by_name[pattern])
    last_part = [name for name in ids_by_name if name.rpartition("/")[2] == pattern]
    ids = set().union(*(ids_by_name[name] for name in last_part))
    if len(ids) > 1:
        raise MisuseError(
            f"{pattern!r} means several models: {', '.join(sorted(last_part))}"
        )
    if not ids and _GLOB.search(pattern):
        fitting = [
            name
            for name in ids_by_name
            if fnmatchcase(name, pattern)
            or fnmatchcase(name.rpartition("/")[2], pattern)
        ]
        ids = set().union(*(ids_by_name[name] for name in fitting))
    return sorted(ids)


def _is_chosen(
    run: Run, benchmark_ids: Sequence[int] | None, where: Sequence[Where]
) -> bool:
    on_benchmark = benchmark_ids is None or run["benchmark_id"] in benchmark_ids
    return on_benchmark and all(condition.holds(run) for condition in where)


def _fits(reading: Reference, run: Run) -> bool:
    if reading.revision is not None and not any(
        fnmatchcase(run[name] or "", reading.revision)
        for name in ("revision", "checkpoint")
    ):
        return False
    if reading.training_position is not None and not _at_position(
        run, *reading.training_position
    ):
        return False
    return reading.agent is None or fnmatchcase(run["agent"], reading.agent)


def _at_position(run: Run, unit: str, number: float) -> bool:
    if unit == "tokens" and run["tokens"] is not None:
        return float(run["tokens"]) == number
    return bool(run["position_unit"] == unit and run["position"] == number)


def _exact(condition: Condition) -> str:
    return ", ".join(f"run:{run}" for run in condition.run_ids)


BenchmarkSplit = tuple[str, str]
BySplit = Mapping[BenchmarkSplit, Sequence[Condition]]
#: Benchmarks that a message names.
NAMED = 8


def by_benchmark_split(
    store: Store, text: str, ids: Sequence[int] | None, where: Sequence[Where]
) -> dict[BenchmarkSplit, list[Condition]]:
    """The conditions of one model by benchmark and split, by name (MisuseError: nothing
    fits, or several models do)."""
    conditions = find_conditions(store, text, benchmark_ids=ids, where=where)
    models = sorted({condition.model for condition in conditions})
    if len(models) > 1:
        by_recipe = any(
            reading.model == conditions[0].setting("recipe")
            for reading in parse_reference(text)
        )
        names = models
        if by_recipe:
            names = [f"{model} {conditions[0].setting('recipe')}" for model in models]
        raise MisuseError(
            f"{text!r} means {len(models)} models, choose one: {', '.join(names)}"
        )
    return by_split(conditions)


def with_scores(splits: BySplit) -> BySplit:
    """Without conditions that have no score of a sample where another has: nobody means
    them who compares."""
    scored = {}
    for split, conditions in splits.items():
        scored[split] = [
            one for one in conditions if any(run["n_scores"] for run in one.runs)
        ] or conditions
    return scored


def by_split(conditions: Iterable[Condition]) -> dict[BenchmarkSplit, list[Condition]]:
    """Conditions by benchmark and split, by name."""
    return dict(
        sorted(grouped(conditions, lambda condition: condition.benchmark_split).items())
    )


def common_benchmarks(
    a: str, of_a: BySplit, b: str, of_b: BySplit
) -> list[BenchmarkSplit]:
    """Benchmarks and splits that both have (MisuseError: there is none; lists what each
    has)."""
    splits = [split for split in of_a if split in of_b]
    if splits:
        return splits
    lists = "; ".join(
        f"{name} has {listed(list(of))}" for name, of in ((a, of_a), (b, of_b))
    )
    raise MisuseError(
        f"{a} and {b} have no benchmark in common: {lists} "
        f"({_ways_out(a, of_a, b, of_b)})"
    )


def _ways_out(a: str, of_a: BySplit, b: str, of_b: BySplit) -> str:
    """What to do about two models on no common benchmark and split."""
    joined = {split[0] for split in of_a} & {split[0] for split in of_b}
    for name in sorted(joined):
        splits = {split for split in (*of_a, *of_b) if split[0] == name}
        if (name, "") in splits:
            own = shlex.quote(name)
            return (
                "one of them does not say which split it is of; if they ask the same "
                f"prompts: `warehouse fix link {own} {own}` joins those of equal text, "
                f"then `warehouse compare --across-links {shlex.join([a, b])}` compares"
            )
        return (
            "one benchmark in several splits; if one tool calls the same split "
            "otherwise, forget its source and read it with the name of the other: "
            "warehouse ingest FILE --set split=NAME"
        )
    return (
        "`warehouse compare --across-links` holds two formulations of one against "
        "each other, once `warehouse list links` has joined their prompts"
    )


def pick_all(
    store: Store,
    splits: Sequence[BenchmarkSplit],
    sides: Sequence[tuple[str, BySplit]],
    *,
    latest: bool,
) -> list[tuple[Condition, ...]]:
    """For each split the one condition of each side.

    Args:
        sides: reference as given, and its conditions.
        latest: take the one that ran last instead of asking.

    Raises:
        MisuseError: somewhere several fit; lists all such splits with the conditions
            there.
    """
    sides = by_one_scorer(store, splits, sides)
    by_text = dict(sides)  # of a model against itself each choice is told once
    several = []
    for text, of in by_text.items():
        for split in splits:
            if len(of[split]) > 1:
                several.append((text, split, of[split]))
    if len(several) > 1 and not latest:
        choices = []
        for text, split, conditions in several:
            labels = label_conditions(store, conditions)
            choices += _choices(text, split, conditions, labels)
        raise OpenChoiceError(_ambiguous(store, several), choices)
    picked = []
    for split in splits:
        picked.append(
            tuple(pick_one(store, of[split], text, latest=latest) for text, of in sides)
        )
    return picked


def _of_one_scorer(
    store: Store, conditions: Sequence[Condition]
) -> Sequence[Condition]:
    """The conditions of the first of several scorers; a note names the others."""
    if len({one.setting("scorers_key") for one in conditions}) < 2:
        return conditions
    text = conditions[0].model
    split = conditions[0].benchmark_split
    ((_, chosen),) = by_one_scorer(store, [split], [(text, {split: conditions})])
    return chosen[split]


def by_one_scorer(
    store: Store, splits: Sequence[BenchmarkSplit], sides: Sequence[tuple[str, BySplit]]
) -> Sequence[tuple[str, BySplit]]:
    """The sides without conditions that differ from another in nothing but who scored:
    both are held against each other by the first scorer that both have, and a note
    names the others."""
    chosen = {text: dict(of) for text, of in sides}
    for split in splits:
        scorers = []
        for _, of in sides:
            scorers.append({one.setting("scorers_key") for one in of[split]})
        common = set.intersection(*scorers)
        if len(common) == 0 or max(map(len, scorers)) < 2:
            continue
        runs = {}
        for _, of in sides:
            for one in of[split]:
                runs[one.setting("scorers_key")] = one.run_ids[0]
        told = scorers_of(store, list(runs.values()))
        first, *others = sorted(
            runs, key=lambda key: (key not in common, told.get(runs[key], (9, "")))
        )
        for text, of in sides:
            chosen[text][split] = [
                one for one in of[split] if one.setting("scorers_key") == first
            ]
        found = []
        for key in (first, *others):
            name = told.get(runs[key], (0, "a comparison"))[1]
            found.append(Scorer(name, _most_questions(sides, split, key)))
        why = "the headline metric"
        if min(runs, key=lambda key: told.get(runs[key], (9, ""))) != first:
            why = "who scored both"
        said = taken_in_words(split[0], found, why)
        _log.warning("note: %s: %s", in_words(split), said)
    return [(text, chosen[text]) for text, _ in sides]


def _most_questions(
    sides: Sequence[tuple[str, BySplit]], split: BenchmarkSplit, scorers: str
) -> int:
    """Questions that the same scorers have of the side of which they have most."""
    most = 0
    for _, of in sides:
        for one in of[split]:
            if one.setting("scorers_key") == scorers:
                most = max(most, *(run["n_found"] or 0 for run in one.runs))
    return most


def in_words(split: BenchmarkSplit) -> str:
    """``benchmark (split)``."""
    benchmark, part = split
    if part:
        return f"{benchmark} ({part})"
    return benchmark


def listed(splits: Sequence[BenchmarkSplit]) -> str:
    """The first benchmarks by name, and how many more."""
    return some_of([*map(in_words, splits)], NAMED)


def _ambiguous(
    store: Store, several: Sequence[tuple[str, BenchmarkSplit, Sequence[Condition]]]
) -> str:
    """One line for the splits of a reference at which the same conditions are to choose
    from."""
    groups: dict[
        tuple[str, tuple[str, ...]], list[tuple[BenchmarkSplit, Sequence[Condition]]]
    ] = {}
    for text, split, conditions in several:
        groups.setdefault(
            (text, tuple(label_conditions(store, conditions))), []
        ).append((split, conditions))
    lines: list[str] = []
    each = max(1, (_MOST_LINES - 1) // len(groups) - 2)
    for (text, labels), members in groups.items():
        splits = [split for split, _ in members]
        lines.append(f"  {text!r} on {listed(splits)} means {len(labels)} conditions:")
        n_shown = each
        if len(labels) <= each + 1:
            n_shown = len(labels)
        for number, label in enumerate(labels[:n_shown]):
            runs = chain.from_iterable(
                conditions[number].run_ids for _, conditions in members
            )
            lines.append(f"    {label}  ({_run_ids([*runs])})")
        if len(labels) > n_shown:
            lines.append(f"    ... {len(labels) - n_shown} more")
    if len(lines) >= _MOST_LINES:
        n_more = len(lines) - _MOST_LINES + 2
        lines = [*lines[: _MOST_LINES - 2], f"  ... {n_more} more lines"]
    ways = "narrow them with --where field=value, give run:ID for one benchmark, or "
    ways += "take the newest with --latest"
    checkpoint = _last_checkpoint([own for *_, own in several])
    if checkpoint:
        ways = (
            "take the last checkpoints with --latest, or one of each by its name, as "
            f"{several[0][0]}@{checkpoint}; else narrow them with --where field=value"
        )
    return f"{len(several)} choices are open; {ways}:\n" + "\n".join(lines)


def _run_ids(runs: Sequence[int]) -> str:
    """The first runs as references."""
    ids = ", ".join(f"run:{run}" for run in runs[:NAMED])
    if len(runs) > NAMED:
        ids += ", ..."
    return ids


def _last_checkpoint(choices: Sequence[Sequence[Condition]]) -> str:
    """The place in training, as ``step=N``, of the last of some conditions; empty where
    they do not differ in it."""
    places = set()
    for one in chain.from_iterable(choices):
        if one.setting("position") is None:
            return ""
        places.add((one.setting("position"), one.setting("position_unit")))
    if len(places) < 2:
        return ""
    position, unit = max(places)
    return f"{unit}={position:.15g}"
