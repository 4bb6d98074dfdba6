"""Rules of a mapping: what is read of each row, as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from typing import Any

from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.combined_expressions import First
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.mapping_files import in_row
from warehouse.importers.tabular.null_words import NullWords
from warehouse.importers.tabular.readers import MatrixRule, ReadingRules

#: Fields that tell apart several rows of one prompt.
_OF_ONE_PROMPT = ("draw", "perturbation", "fewshot_draw", "template")


@dataclass(frozen=True)
class _Rule:
    """The base of rules with expressions."""

    @property
    def sources(self) -> Iterator[Source]:
        """The expressions, in the order of the fields."""
        for part in fields(self):
            yield from _sources_in(getattr(self, part.name))


def _sources_in(value: Any) -> Iterator[Source]:
    if isinstance(value, Source):
        yield value
    elif isinstance(value, _Rule):
        yield from value.sources
    elif isinstance(value, dict | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _sources_in(part)


def _alternatives_in(sources: Iterable[Source]) -> Iterator[First]:
    for source in sources:
        if isinstance(source, First):
            yield source
        yield from _alternatives_in(source.inner())


@dataclass(frozen=True)
class ScoreRule(_Rule):
    """``[[scores]]``: where one number of each row stands."""

    metric: Source
    filter: Source
    value: Source
    weight: Source | None = None
    n_draws: Source | None = None
    status: Source | None = None
    omit_null: bool = False
    omit_absent: bool = False  # but not what is there and empty
    null_value: float | None = None
    null_status: str | None = None


@dataclass(frozen=True)
class ChoiceRule(_Rule):
    """``[choice_scores]``: numbers of each option, as lists; the index of the right
    one."""

    lists: Mapping[str, Source]
    target: Source | None = None


@dataclass(frozen=True)
class PublishedRule(_Rule):
    """``[[published]]``: a figure that the source itself states."""

    value: Source
    names: Mapping[str, Source]  #: the texts that say what is measured.
    #: ``standard_error`` and ``n``, where they are mapped.
    spread: Mapping[str, Source]
    #: those of ``value`` and the spread whose path leads to a list or object of
    #: figures, with the same keys; they replace ``{key}`` in the names.
    by_key: frozenset[str] = frozenset()

    @property
    def numbers(self) -> dict[str, Source]:
        """The value and its spread."""
        return {"value": self.value, **self.spread}


@dataclass(frozen=True)
class VoteRule(_Rule):
    """``[votes]``: which of two models did better in each row; of each covariate the
    numbers of both answers."""

    fields: Mapping[str, Source]
    covariates: Mapping[str, tuple[Source, Source]]


@dataclass(frozen=True)
class SkipRule:
    """``[[rows.skip]]``: rows that are no data; any of the conditions that are given
    holds."""

    source: Source
    matching: Pattern | None = None
    not_matching: Pattern | None = None
    equal_to: tuple[str, ...] = ()
    null: bool = False


@dataclass(frozen=True)
class JoinRule:
    """``[join.NAME]``: another file, found from the data file's folder upwards; ``key``
    is a path in its records, ``on`` one in ours. Without them the whole file is one
    record."""

    name: str
    file: str
    rules: ReadingRules
    key: str = ""
    on: str = ""
    optional: bool = False


@dataclass(frozen=True)
class AgreementRule(_Rule):
    """A second source of a field of the run. Where it says something else than the
    first, the rows are rejected (``strict``), or a note says so and the first holds."""

    field: str
    other: Source
    strict: bool = False


@dataclass(frozen=True)
class Variant(_Rule):
    """One reading of each row (``[each]`` gives several)."""

    agreements: tuple[AgreementRule, ...]
    run: Mapping[str, Source]
    sample: Mapping[str, Source]
    metadata: Mapping[str, Source]
    scores: tuple[ScoreRule, ...]
    choices: ChoiceRule | None
    published: tuple[PublishedRule, ...]
    votes: VoteRule | None = None
    #: ``[scorer]``: who gave the scores of a row.
    scorer: Mapping[str, Source] = field(default_factory=dict)

    @property
    def has_samples(self) -> bool:
        """True if rows are samples (not only published figures)."""
        return bool(
            self.scores
            or self.choices
            or {"response", "extracted_answer"} & {*self.sample}
        )

    @property
    def is_long(self) -> bool:
        """True if several rows can be about one prompt of one run, or one prompt of
        several."""
        varying = [self.sample[name] for name in _OF_ONE_PROMPT if name in self.sample]
        varying += [
            *self.run.values(),
            *self.scorer.values(),
            *(rule.metric for rule in self.scores),
        ]
        paths = chain.from_iterable(source.paths() for source in varying)
        return any(map(in_row, paths))


@dataclass(frozen=True)
class TabularMapping:
    """A mapping file."""

    files: tuple[str, ...]
    exclude: tuple[str, ...]
    together: bool
    members: tuple[str, ...]
    rules: ReadingRules
    patterns: tuple[Pattern, ...]
    nulls: NullWords  #: what means null in every field.
    columns: tuple[str, ...]  #: those that a table may have; empty: any.
    #: columns and objects whose parts are settings where they hold one value in a run;
    #: ``*``: all that nothing reads.
    constants: tuple[str, ...]
    key: tuple[str, ...]
    skips: tuple[SkipRule, ...]
    joins: tuple[JoinRule, ...]
    matrix: MatrixRule | None
    variants: tuple[Variant, ...]
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def alternatives(self) -> tuple[First, ...]:
        """The expressions of which one part has to be in a file."""
        sources = chain.from_iterable(variant.sources for variant in self.variants)
        return tuple(_alternatives_in(sources))

    @cached_property
    def paths(self) -> tuple[tuple[Source, str], ...]:
        """The paths of samples and runs, each with the innermost expression that reads
        it."""
        sources = chain.from_iterable(variant.sources for variant in self.variants)
        leaves = chain.from_iterable(source.leaves() for source in sources)
        found: list[tuple[Source, str]] = []
        for leaf in leaves:
            found += [(leaf, path) for path in leaf.paths()]
        return tuple(found)
