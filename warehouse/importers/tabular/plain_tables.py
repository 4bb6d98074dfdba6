"""Tables without a mapping: the usual names of columns say what they are, the values of
the columns of scores how they are read (docs/reference/mapping_language.md).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import InputError
from warehouse.importers.common.messages import listed
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import (
    OF_TRUTH,
    Guess,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.columns import (
    Codes,
    as_list,
    encode,
    text_of,
    to_text,
)
from warehouse.importers.tabular.constant_columns import ConstantColumns, leaves_at
from warehouse.importers.tabular.expressions import Recode
from warehouse.importers.tabular.head_columns import (
    cached_guess,
    cached_votes,
    head_columns,
    may_hold_objects,
)
from warehouse.importers.tabular.mapping_rules import ScoreRule, TabularMapping
from warehouse.importers.tabular.missing_roles import in_words, missing_roles
from warehouse.importers.tabular.null_words import null_words
from warehouse.importers.tabular.runs import summaries
from warehouse.importers.tabular.score_values import ScoreValues
from warehouse.records import SourceFiles

#: Fields that tell rows of one prompt apart.
_OF_ROWS = ("position", "draw", "perturbation", "fewshot_draw", "template")


# --- tables whose names suffice -------------------------------------------------------------------

_NEEDED = ("model", "benchmark")
#: Names that a note shows.
_SHOWN_NAMES = 3


def plain_columns(source: SourceFiles, values: Mapping[str, Any]) -> Guess:
    """Columns of a table by what their names say.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: columns that every table must have are missing.
    """
    path = source.files[0]
    names = head_columns(path)
    guessed = cached_guess(tuple(names), objects=may_hold_objects(path))
    missing = missing_roles(guessed, values)
    if missing:
        options = [f"--default {name}=NAME" for name in missing if name in _NEEDED]
        choice = ""
        if options:
            choice = f"say {' '.join(options)}, or "
        raise InputError(
            in_words(missing, names),
            path=source.name,
            advice=choice
            + "let `warehouse mapping FILE` begin a mapping for --map"
            + (
                ", which can take the model from names of files or folders"
                if "model" in missing
                else ""
            ),
        )
    return guessed


#: Where Arena's dumps keep the first message of a conversation, and the lengths of both
#: answers.
_OPENING = "conversation_a[0].content"
_LENGTHS = {side: f"conv_metadata.sum_assistant_{side}_tokens" for side in "ab"}


#: Fields of a vote that say who judged, or that people did.
_WHO_JUDGED = frozenset({"voter", "judge", "scorer", "scorer_kind", "judge_model"})


def vote_mapping(
    source: SourceFiles, values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]] | None:
    """The mapping that the column names of a table of votes amount to, and what its
    owner should know; ``None`` if it is none.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: nothing says on which benchmark they are.
    """
    path = source.files[0]
    names = head_columns(path)
    parts = cached_votes(tuple(names))
    if not parts:
        return None
    if "benchmark" not in parts["run"] and "benchmark" not in values:
        raise InputError(
            "nothing says on which benchmark these votes are",
            path=source.name,
            expected="a column benchmark, beside both models and the winner",
            advice=(
                "say --default benchmark=NAME, or --map MAPPING (warehouse mapping "
                "--list)"
            ),
        )
    used = set(chain.from_iterable(part.values() for part in parts.values()))
    mapping: dict[str, Any] = {}
    for part, fields in parts.items():
        mapping[part] = {
            name: {"path": path_of(column), "optional": True}
            for name, column in fields.items()
        }
    if "text" not in parts["sample"] and "conversation_a" in names:
        mapping["sample"]["text"] = {"path": _OPENING, "optional": True}
        used |= {"conversation_a", "conversation_b"}
    if "prompt_id" not in parts["sample"] and "text" in mapping["sample"]:
        mapping["key"] = ["text"]
    if "conv_metadata" in names:
        sides = {side: {"path": at, "optional": True} for side, at in _LENGTHS.items()}
        mapping["votes"]["covariates"] = {"length": sides}
        used.add("conv_metadata")
    notes = []
    if "first" not in parts["votes"]:
        mapping["votes"]["first"] = {"const": "a"}
        first = parts["votes"]["model_a"]
        notes.append(
            f"the answer of {first} is taken for the one that was shown first; a "
            "column `first` says otherwise"
        )
    if _WHO_JUDGED.isdisjoint(parts["votes"]):
        # votes of two files may be of people and of a model: pooled, nobody would see it
        judge = PurePath(path.name).stem
        mapping["votes"]["scorer"] = {"const": judge}
        mapping["votes"]["scorer_kind"] = {"const": "match"}
        notes.append(
            f"no column says who judged: these votes are those of a judge {judge!r}, "
            "after the file; a column `scorer`, `judge_model` or `voter` says otherwise"
        )
    unused = [name for name in names if name not in used]
    if unused:
        notes.append(f"columns not used: {', '.join(unused)}")
    return mapping, notes


def canonical_mapping(guessed: Guess, settings: Sequence[str] = ()) -> dict[str, Any]:
    """The mapping that a table's own column names amount to.

    Args:
        settings: columns that are settings of the runs.
    """
    sample: dict[str, Any] = {
        name: path_of(column) for name, column in guessed.sample.items()
    }
    if "target" in guessed.key:  # not every question has one
        sample["target"] = {"path": sample["target"], "optional": True}
    parts: dict[str, Any] = {
        "run": {name: path_of(column) for name, column in guessed.run.items()},
        "sample": sample,
        "metadata": {
            name: path_of(column) for name, column in guessed.metadata.items()
        },
        "scores": [dict(_score(guessed, *pair)) for pair in guessed.scores],
    }
    if guessed.scorer:
        parts["scorer"] = {
            name: path_of(column) for name, column in guessed.scorer.items()
        }
    if settings:
        parts["run"]["configuration"] = {name: path_of(name) for name in settings}
    if guessed.key:
        return parts | {"key": list(guessed.key)}
    return parts


def _score(guessed: Guess, metric: str, column: str) -> Iterator[tuple[str, Any]]:
    yield "metric", metric or {"path": path_of(guessed.metric)}
    yield "value", path_of(column)
    if guessed.filter:
        yield "filter", {"path": path_of(guessed.filter)}


# --- what the values add --------------------------------------------------------------------------

_HOW = "--higher-is-better or --lower-is-better"


@dataclass
class PlainTable:
    """A table, with what is learnt of it while its runs are surveyed."""

    columns: Guess  #: which column is what.
    higher_is_better: bool | None = None  #: where the user said it.
    delimiter: str = ","  #: what parts the cells; a comma where nothing does.
    #: columns that tell runs of one prompt apart, which are settings of the runs.
    crossed: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()  #: columns of one value in each run.
    _values: dict[tuple[str, str], ScoreValues] = field(default_factory=dict)
    #: those of a target that is called ``label``.
    _labels: ScoreValues = field(default_factory=ScoreValues)

    def __post_init__(self) -> None:
        self.constants = ConstantColumns(
            {column: path_of(column) for column in self.columns.unused}
        )

    def with_objects(self, view: RowView) -> PlainTable:
        """The same where columns of objects are no property of the prompt, but may hold
        settings leaf by leaf.

        Args:
            view: the first rows.
        """
        objects = {
            name: column
            for name, column in self.columns.metadata.items()
            if leaves_at(view, path_of(column))
        }
        if not objects:
            return self
        metadata = {
            name: column
            for name, column in self.columns.metadata.items()
            if name not in objects
        }
        unused = (*self.columns.unused, *objects.values())
        return replace(
            self, columns=replace(self.columns, metadata=metadata, unused=unused)
        )

    def shortlist(self, view: RowView) -> None:
        """Choose what may be a setting, of columns and of the leaves of those that hold
        objects, by the first rows."""
        for column in self.columns.unused:
            self.constants.add(leaves_at(view, path_of(column), name=column))
        self.constants.shortlist(view)

    def again(self, crossed: Sequence[str]) -> PlainTable:
        """Nothing learnt yet, but for columns that tell runs apart."""
        unused = tuple(name for name in self.columns.unused if name not in crossed)
        columns = replace(self.columns, unused=unused)
        return PlainTable(
            columns, self.higher_is_better, self.delimiter, tuple(crossed)
        )

    def paths(self) -> set[str]:
        """Field paths that have to be read for that."""
        columns = {column for _, column in self.columns.scores}
        columns |= {self.columns.metric, self._label, self._name}
        return {
            path_of(column) for column in columns if column
        } | self.constants.paths()

    def key(self) -> list[str]:
        """Field paths that tell the rows of a run apart."""
        sample = self.columns.sample
        if "prompt_id" in sample:
            names = ["prompt_id"]
        else:
            names = list(self.columns.key)
        names += [name for name in _OF_ROWS if name in sample]
        columns = [sample[name] for name in names]
        columns += [
            column for column in (self.columns.metric, self.columns.filter) if column
        ]
        return [path_of(column) for column in columns]

    @property
    def _name(self) -> str:
        """The column by which prompts are called."""
        return self.columns.sample.get("prompt_id") or self.columns.sample.get(
            "text", ""
        )

    @property
    def _label(self) -> str:
        """The column ``label``, where it is taken for the right answer; else empty."""
        column = self.columns.sample.get("target", "")
        if plain_name(column) == "label":
            return column
        return ""

    def learn(self, view: RowView, runs: Codes) -> None:
        """Take in some rows; those that sum up others are no scores of prompts, and may
        be written otherwise.

        Args:
            view: the rows.
            runs: number of the run of each row, -1 where it has none; shape (rows,).
        """
        if self._name:
            names = to_text(
                view.column(path_of(self._name)), view.size, labels=True
            ).array
            sums = pc.fill_null(summaries(names), False)
            if pc.any(sums).as_py():
                kept = np.flatnonzero(~np.asarray(sums))
                view = replace(view, chunk=view.chunk.keep(kept.tolist()))
                runs = runs[kept]
                names = names.take(pa.array(kept))
            self.constants.learn_prompts(names, runs)
        self.constants.learn(view, runs)
        if self._label:
            self._labels.learn_values(
                encode(view.column(path_of(self._label)), view.size)[1]
            )
        for metric, column in self.columns.scores:
            values = view.column(path_of(column))
            if metric:
                self._values.setdefault((metric, column), ScoreValues()).learn(
                    values, view.size
                )
            else:
                self._learn_named(view, column, as_list(values, view.size))

    def settled(self, mapping: TabularMapping, name: str) -> TabularMapping:
        """The mapping with what the values tell: words as numbers, directions, verdicts
        that are no target.

        Args:
            mapping: what the names of columns amount to.
            name: the file's name.

        Raises:
            InputError: numbers of a column are written in forms of which one alone
                would be read.
        """
        if self._labels.are_verdicts:
            mapping = self._without_target(mapping)
        for metric, values in self._by_metric().items():
            self._refuse_odd(metric, values, name)
        recodes = {
            path_of(column): _recode(keys)
            for column, (keys, _) in self._readings().items()
            if keys
        }

        def reread(rule: ScoreRule) -> ScoreRule:
            recode = recodes.get(next(rule.value.paths(), ""))
            if recode is None:
                return rule
            return replace(rule, value=replace(rule.value, recode=recode))

        variants = (
            replace(part, scores=tuple(map(reread, part.scores)))
            for part in mapping.variants
        )
        return replace(mapping, variants=tuple(variants))

    def _without_target(self, mapping: TabularMapping) -> TabularMapping:
        """The mapping without targets that are verdicts: they would make other prompts
        of those that one model has right."""
        unused = (*self.columns.unused, self._label)
        sample = {
            name: column
            for name, column in self.columns.sample.items()
            if name != "target"
        }
        self.columns = replace(self.columns, sample=sample, unused=unused)
        kept = []
        for part in mapping.variants:
            own = {name: part.sample[name] for name in sample}
            kept.append(replace(part, sample=own))
        return replace(mapping, key=self.columns.key, variants=tuple(kept))

    def _refuse_odd(self, metric: str, values: ScoreValues, name: str) -> None:
        """Refuse marks and forms of numbers among the scores of a metric."""
        # a mark is too far off to be a score
        if values.is_marked and min(values.marks) < min(-9, -values.high):
            raise InputError(
                f"{values.marked} in scores of {metric}",
                path=name,
                expected="an empty cell where there is no score",
                advice=(
                    f"`warehouse mapping {name}` begins a mapping for --map, with "
                    "what to do about it"
                ),
            )
        text = values.unread(self.delimiter)
        if text is not None:
            raise InputError(
                f"{text!r} beside plain numbers in scores of {metric}",
                path=name,
                expected=(
                    f"numbers of one form, or --map; `warehouse mapping {name}` "
                    "begins a mapping"
                ),
            )

    def metrics(self) -> dict[str, dict[str, Any]]:
        """Metrics, by their names and values."""
        if self.higher_is_better is not None:
            return {}
        return {
            name: {"kind": "binary", "higher_is_better": True}
            for name in self._truths()
        }

    def assumed(self, name: str) -> Iterator[str]:
        """Notes on what columns were taken for by their names.

        Args:
            name: the file, as it is named to a shell.
        """
        renamed = [
            f"{column} as {field}" for field, column in self.columns.renamed.items()
        ]
        if renamed:
            yield f"columns taken by their usual names: {', '.join(renamed)}"
        if self.columns.scorer:
            yield (
                f"who scored is taken from {', '.join(self.columns.scorer.values())}: "
                "people, each judge and each scorer are figures of their own"
            )
        taken = [*self.crossed, *self.settings]
        if taken:
            ignore = (
                f"`warehouse fix settings BENCHMARK --ignore {shlex.quote(taken[0])}`"
            )
            yield (
                f"columns taken as settings of the runs: {', '.join(taken)}; of one "
                f"that means nothing {ignore} says so"
            )
        if self.columns.unused:
            yield (
                f"columns not used: {', '.join(self.columns.unused)}; `warehouse "
                f"mapping {name}` writes a mapping that can use them"
            )

    def notes(self, name: str) -> Iterator[str]:
        """Other notes for the owner of the table.

        Args:
            name: the file, as it is named to a shell.
        """
        for column, (_, meaning) in self._readings().items():
            if meaning:
                yield f"{column}: {meaning}"
        for column, names in self.constants.of_conditions().items():
            yield (
                f"{column} ({listed(names, _SHOWN_NAMES)}) may name conditions, whose "
                f"rows are taken together; `warehouse mapping {name}` writes a mapping "
                "that can part them ([run.configuration])"
            )
        for metric, values in self._by_metric().items():
            if values.is_marked:
                yield (
                    f"{metric} is {values.marked}, and counts as such; if it stands "
                    f"for no score, `warehouse mapping {name}` begins a mapping that "
                    "leaves it out"
                )
        if self.higher_is_better is None:
            yield from self._directions()

    def _directions(self) -> Iterator[str]:
        truths = self._truths()
        if truths:
            yield (
                f"only 0 and 1 in {', '.join(truths)}: taken as higher is better; "
                "--lower-is-better says otherwise"
            )
        others = [name for name in self._by_metric() if name not in truths]
        if others:
            yield (
                f"whether a higher {', '.join(others)} is better is not known: say "
                f"{_HOW}"
            )

    def _learn_named(self, view: RowView, column: str, values: list[Any]) -> None:
        codes, names = encode(view.column(path_of(self.columns.metric)), view.size)
        for code, name in enumerate(names):
            if name is not None:  # else the row is rejected
                chosen = [values[row] for row in np.flatnonzero(codes == code).tolist()]
                key = (str(text_of(name)), column)
                self._values.setdefault(key, ScoreValues()).learn(chosen, len(chosen))

    def _readings(self) -> dict[str, tuple[dict[str, Any], str]]:
        """How each column of scores is read; a column with several metrics as it
        stands."""
        if not all(metric for metric, _ in self.columns.scores):
            return {}
        return {
            column: values.reading(self.delimiter)
            for (_, column), values in self._values.items()
        }

    def _by_metric(self) -> dict[str, ScoreValues]:
        return {metric: values for (metric, _), values in sorted(self._values.items())}

    def _truths(self) -> list[str]:
        """Metrics whose values are right or wrong, and whose name says which is
        which."""
        return [
            name
            for name, values in self._by_metric().items()
            if name in OF_TRUTH and values.is_truth
        ]


def _recode(keys: Mapping[str, Any]) -> Recode:
    """The keys of an expression."""
    parts = {**keys, "null": null_words(keys.get("null", ()))}
    if "pattern" in keys:
        parts["pattern"] = Pattern(keys["pattern"])
    return Recode(**parts)
