"""The mapping file: the rules that it consists of.

parse_mapping.py puts them together from its sections; docs/mappings.md is the reference of the language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.importers.common.header_values import header_kinds
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.readers import MatrixRule, ReadingRules
from warehouse.importers.tabular.sections import in_row
from warehouse.records import SAMPLE_SCHEMA

#: Fields of the run header that a mapping fills in ``[run]``.
RUN_FIELDS = tuple(name for name in header_kinds() if name not in ("metrics", "published", "place"))
#: Those of them that hold an object.
RECORD_FIELDS = tuple(name for name in RUN_FIELDS if header_kinds()[name] is Mapping)
#: Those that hold a list of names.
LIST_FIELDS = tuple(name for name in RUN_FIELDS if header_kinds()[name] is tuple)
#: Fields of a sample row that a mapping fills in ``[sample]``.
SAMPLE_FIELDS = tuple(
    name
    for name in SAMPLE_SCHEMA.names
    if name not in ("run", "identity", "metadata", "scores", "choice_scores", "transcript")
)
#: Fields that tell apart several rows of one prompt.
_OF_ONE_PROMPT = ("draw", "perturbation", "fewshot_draw", "template")


@dataclass(frozen=True)
class ScoreRule:
    """``[[scores]]``: where one number of each row stands."""

    metric: Source
    filter: Source
    value: Source
    weight: Source | None = None
    n_draws: Source | None = None
    status: Source | None = None
    omit_null: bool = False
    null_value: float | None = None
    null_status: str | None = None

    @property
    def sources(self) -> Iterator[Source]:
        parts = (self.metric, self.filter, self.value, self.weight, self.n_draws, self.status)
        return (part for part in parts if part is not None)


@dataclass(frozen=True)
class ChoiceRule:
    """``[choice_scores]``: numbers of each option, as lists; the index of the right one."""

    lists: Mapping[str, Source]
    target: Source | None = None

    @property
    def sources(self) -> Iterator[Source]:
        yield from self.lists.values()
        if self.target is not None:
            yield self.target


@dataclass(frozen=True)
class PublishedRule:
    """``[[published]]``: a figure that the source itself states. ``each``: its path leads to a
    list or object of figures, whose keys replace ``{key}`` in the names; ``by_key`` says which of
    ``standard_error`` and ``n`` lead to a list or object with the same keys."""

    value: Source
    names: Mapping[str, Source]
    each: bool = False
    standard_error: Source | None = None
    n: Source | None = None
    by_key: frozenset[str] = frozenset()

    @property
    def sources(self) -> Iterator[Source]:
        yield from (self.value, *self.names.values())
        yield from (part for part in (self.standard_error, self.n) if part is not None)


@dataclass(frozen=True)
class SkipRule:
    """``[[rows.skip]]``: rows that are no data; any of the conditions that are given holds."""

    source: Source
    matching: Pattern | None = None
    not_matching: Pattern | None = None
    equal_to: tuple[str, ...] = ()
    null: bool = False


@dataclass(frozen=True)
class JoinRule:
    """``[join.NAME]``: another file, found from the data file's folder upwards; ``key`` is a path
    in its records, ``on`` one in ours. Without them the whole file is one record."""

    name: str
    file: str
    rules: ReadingRules
    key: str = ""
    on: str = ""
    optional: bool = False


@dataclass(frozen=True)
class AgreementRule:
    """A second source of a field of the run. Where it says something else than the first, the
    rows are rejected (``strict``), or a note says so and the first holds."""

    field: str
    other: Source
    strict: bool = False


@dataclass(frozen=True)
class Variant:
    """One reading of each row (``[each]`` gives several)."""

    run: Mapping[str, Source]
    sample: Mapping[str, Source]
    metadata: Mapping[str, Source]
    scores: tuple[ScoreRule, ...]
    choices: ChoiceRule | None
    published: tuple[PublishedRule, ...]
    agreements: tuple[AgreementRule, ...] = ()

    @property
    def sources(self) -> Iterator[Source]:
        yield from (rule.other for rule in self.agreements)
        yield from (*self.run.values(), *self.sample.values(), *self.metadata.values())
        for rule in (*self.scores, *((self.choices,) if self.choices else ()), *self.published):
            yield from rule.sources

    @property
    def has_samples(self) -> bool:
        """Whether rows are samples (not only published figures)."""
        return bool(self.scores or self.choices or {"response", "extracted_answer"} & {*self.sample})

    @property
    def is_long(self) -> bool:
        """Whether several rows can be about one prompt of one run, or one prompt of several."""
        varying = [self.sample[name] for name in _OF_ONE_PROMPT if name in self.sample]
        varying += [*self.run.values(), *(rule.metric for rule in self.scores)]
        return any(in_row(path) for source in varying for path in source.paths())


@dataclass(frozen=True)
class TabularMapping:
    """A mapping file. ``place`` is its path, for messages."""

    place: str
    files: tuple[str, ...]
    exclude: tuple[str, ...]
    together: bool
    members: tuple[str, ...]
    rules: ReadingRules
    patterns: tuple[Pattern, ...]
    nulls: frozenset[str]
    key: tuple[str, ...]
    skips: tuple[SkipRule, ...]
    joins: tuple[JoinRule, ...]
    matrix: MatrixRule | None
    variants: tuple[Variant, ...]
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def sources(self) -> Iterator[Source]:
        """All expressions of the mapping that read samples and runs."""
        for variant in self.variants:
            yield from variant.sources
