"""Recompute a claim, and say what differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.claims.bundle import Claim
from warehouse.claims.declared import fields_were_named, name_of, say_again
from warehouse.claims.questions import checked, make_claim
from warehouse.errors import InputError, MisuseError, QueryLimitError, StatisticsError
from warehouse.records import canonical_json
from warehouse.store.connection import Store

#: Figures that agree this far are the same: machines differ in the last digits.
RELATIVE, ABSOLUTE = 1e-6, 1e-12
#: Parts that may differ, as they say which program made the claim: that another one, or
#: a later one, comes to the same is what a check is for. A note names the first.
#: Of what was declared another day is no difference; a day beside none is.
_DAYS = ("declared.declared_at", "row.declared_at")
NOT_COMPARED = ("program", "source.importer_version", *_DAYS)
MISSING = "missing"
_NO_COLUMN = object()
#: Columns that name a row.
_NAMES = (
    "benchmark",
    "split",
    "model",
    "condition",
    "model_a",
    "condition_a",
    "model_b",
    "condition_b",
    "metric",
)
#: Those of them that say under which settings: by a rule that may have been another one
#: when the claim was made.
_CONDITIONS = ("condition", "condition_a", "condition_b")

Entries = Sequence[Mapping[str, Any]]
CommandReader = Callable[[str], tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Difference:
    """One thing in which a store and a claim differ."""

    #: ``command``, ``figure``, ``row``, ``run``, ``source``, ``clustering``,
    #: ``declared`` or ``answer``.
    what: str
    where: str  #: the row and column, the run, or the file; ``order``: where the entries stand.
    claimed: str  #: what the claim says.
    found: str  #: what was found.


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds."""

    holds: bool  #: all that the claim says comes out again, from runs with the same samples.
    rows: tuple[Difference, ...]  #: what differs.
    #: another version of the program, and what to do about other files.
    notes: tuple[str, ...]
    n_figures: int  #: numbers that were compared.

    def __str__(self) -> str:
        if self.holds:
            return f"the claim holds: {self.n_figures} figures come out again"
        return f"the claim does not hold: {len(self.rows)} differences"


def check_parameters(claim: Claim, path: str) -> None:
    """Refuse a bundle that asks for what no claim can ask for (InputError: an unknown
    question or parameter)."""
    try:
        checked(claim.kind, claim.parameters)
    except MisuseError as error:
        raise InputError(
            str(error), path=path, expected="a claim that warehouse claim makes"
        ) from None


def verify_claim(
    store: Store,
    claim: Claim,
    read_command: CommandReader,
    *,
    other_files: bool = False,
) -> Verdict:
    """Ask a store what the claim says it answers, and compare all that a claim holds.

    Args:
        store: for a claim of a query one that can neither write nor reach files.
        claim: as read.
        read_command: the question and the parameters of a command line; ``MisuseError``
            if it asks nothing that can be claimed.
        other_files: the figures may come from other source files, if the samples are
            the same.

    Raises:
        QueryLimitError: a query takes longer, or needs more memory, than the store's
            limits.
    """
    command = _command(claim, read_command)
    try:
        found = make_claim(store, claim.kind, claim.parameters, command=claim.command)
    except QueryLimitError:  # that says nothing of the claim
        raise
    except (MisuseError, StatisticsError) as error:
        unanswered = Difference("answer", claim.command, claim.answer, f"{error}")
        return Verdict(False, (*command, unanswered), (), 0)
    keys = _keys_by_words(claim.runs, found.runs)
    sources = [*_entries("source", claim.sources, found.sources, _file)]
    rows = [*command, *_runs(claim.runs, found.runs, keys)]
    if not other_files:
        rows += sources
    rows += _entries("clustering", claim.clusterings, found.clusterings, _clustering)
    rows += _entries("declared", claim.declared, found.declared, name_of)
    rows += _entries(
        "row",
        claim.rows,
        found.rows,
        _row,
        "figure",
        words_of=_row_without_condition,
    )
    if claim.answer != found.answer:
        rows.append(Difference("answer", "", claim.answer, found.answer))
    n_figures = 0
    for row in claim.rows:
        n_figures += sum(isinstance(value, int | float) for value in row.values())
    notes = [*_notes(claim, found, sources, other_files), *_notes_on_conditions(keys)]
    return Verdict(not rows, tuple(rows), tuple(notes), n_figures)


def _command(claim: Claim, read_command: CommandReader) -> list[Difference]:
    """The command that people read is to ask what is recomputed."""
    question = f"{claim.kind} {_written(claim.parameters)}"
    try:
        kind, parameters = read_command(claim.command)
    except MisuseError as error:
        return [
            Difference(
                "command", "", claim.command, f"{error}; what is recomputed: {question}"
            )
        ]
    if (kind, _written(parameters)) == (claim.kind, _written(claim.parameters)):
        return []
    return [
        Difference(
            "command", "", f"{claim.command}: {kind} {_written(parameters)}", question
        )
    ]


def _written(parameters: Mapping[str, Any]) -> str:
    return canonical_json(parameters).decode()


def _notes(
    claim: Claim, found: Claim, sources: Sequence[Difference], other_files: bool
) -> Iterator[str]:
    if others := [row.where for row in sources if row.found == MISSING]:
        advice = ""
        if not other_files:
            advice = "; let files with the same samples pass: --other-files"
        yield (
            f"{len(others)} of {len(claim.sources)} source files are others: "
            f"{', '.join(others[:5])}{advice}"
        )
    if claim.program != found.program:
        yield (
            f"the claim says version {claim.program[:40]}, this is {found.program}: "
            "sentences and columns may differ"
        )


def _notes_on_conditions(keys: Mapping[str, str]) -> Iterator[str]:
    if keys:
        yield (
            f"the conditions of {len(keys)} runs have other keys by now, of the same "
            "samples: what counts as a setting was told by another rule when the claim "
            "was made; rows are found by their words; make the claim again"
        )


def _keys_by_words(claimed: Entries, found: Entries) -> dict[str, str]:
    """Condition keys of a claim that the store does not know, each with the key under
    which it holds the same samples of the same model, benchmark and split; none where
    there are several."""
    ours, theirs = _samples(claimed), _samples(found)
    known = ours.keys() & theirs.keys()
    our_keys, their_keys = (
        _keys_of_words(claimed, ours, known),
        _keys_of_words(found, theirs, known),
    )
    pairs = {}
    for words, keys in our_keys.items():
        others = their_keys.get(words, ())
        if len(keys) == 1 and len(others) == 1:
            pairs[keys[0]] = others[0]
    return pairs


def _keys_of_words(
    runs: Entries, samples: Mapping[str, Sequence[str]], known: Collection[str]
) -> dict[tuple[str, ...], list[str]]:
    """Condition keys by the words and samples of their runs, but for some keys."""
    keys: dict[tuple[str, ...], list[str]] = {}
    for row in runs:
        key = str(row.get("condition_key"))
        names = [str(row.get(name)) for name in ("model", "benchmark", "split")]
        of_words = keys.setdefault((*names, *samples[key]), [])
        if key not in known and key not in of_words:
            of_words.append(key)
    return keys


def _runs(
    claimed: Entries, found: Entries, keys: Mapping[str, str]
) -> Iterator[Difference]:
    """Runs with other samples, missing and further ones; and what else is said of the
    same samples. Where a condition was told by another rule (``keys``: the stored key
    of each), that is said."""
    claimed_names = {str(row.get("condition_key")): _run(row) for row in claimed}
    for key, stored in keys.items():
        was = f"condition {key[:12]}, told by another rule then"
        yield Difference("run", claimed_names[key], was, f"condition {stored[:12]}")
    claimed = [_with_key(row, keys) for row in claimed]
    ours, theirs = _samples(claimed), _samples(found)
    names = {str(row.get("condition_key")): _run(row) for row in (*found, *claimed)}
    for key in sorted({*ours, *theirs}):
        if ours.get(key, []) != theirs.get(key, []):
            yield Difference(
                "run",
                names[key],
                _hashes(ours.get(key, [])),
                _hashes(theirs.get(key, [])),
            )
    if ours == theirs:
        yield from _entries("run", claimed, found, _run)


def _with_key(row: Mapping[str, Any], keys: Mapping[str, str]) -> Mapping[str, Any]:
    """A run of a claim under the condition key that the store has for it."""
    key = row.get("condition_key")
    return {**row, "condition_key": keys.get(str(key), key)}


def _samples(runs: Entries) -> dict[str, list[str]]:
    """Digests of the samples by condition."""
    digests: dict[str, list[str]] = {}
    for row in runs:
        digests.setdefault(str(row.get("condition_key")), []).append(
            str(row.get("content_digest"))
        )
    return {key: sorted(some) for key, some in digests.items()}


def _hashes(digests: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in digests) or "none"


def _run(row: Mapping[str, Any]) -> str:
    return f"{row.get('model')} on {row.get('benchmark')}"


def _file(row: Mapping[str, Any]) -> str:
    return f"{row.get('path')} ({str(row.get('sha256'))[:12]})"


def _clustering(row: Mapping[str, Any]) -> str:
    return f"{row.get('name')} of {row.get('benchmark')}"


def _row(row: Mapping[str, Any]) -> str:
    return " ".join(str(row[name]) for name in _NAMES if row.get(name))


def _row_without_condition(row: Mapping[str, Any]) -> str:
    return _row({name: value for name, value in row.items() if name not in _CONDITIONS})


def _entries(
    what: str,
    claimed: Entries,
    found: Entries,
    name_of: Callable[[Mapping[str, Any]], str],
    inside: str = "",
    words_of: Callable[[Mapping[str, Any]], str] | None = None,
) -> Iterator[Difference]:
    """Entries that are missing or more, those that differ in a column, and another
    order.

    Args:
        what: an entry is.
        name_of: its name; several of one name are told apart by their place.
        inside: what a column is; default: ``what``.
        words_of: a shorter name, by which an entry is found that is alone under it on
            both sides.
    """
    claimed_entries, found_entries = (
        _by_name(claimed, name_of),
        _by_name(found, name_of),
    )
    if words_of is not None:
        found_entries = _called_as_claimed(claimed_entries, found_entries, words_of)
    for name, row in claimed_entries.items():
        if name not in found_entries:
            yield Difference(what, name, "there", MISSING)
            continue
        for column in {**row, **found_entries[name]}:
            both = [
                entry.get(column, _NO_COLUMN) for entry in (row, found_entries[name])
            ]
            if _differ(f"{what}.{column}", *both):
                where = f"{name}: {column}"
                yield Difference(inside or what, where, *map(_short, both))
    for name in found_entries:
        if name not in claimed_entries:
            yield Difference(what, name, MISSING, "there")
    if claimed_entries.keys() == found_entries.keys() and [*claimed_entries] != [
        *found_entries
    ]:
        yield Difference(
            what,
            "order",
            _short(", ".join(claimed_entries)),
            _short(", ".join(found_entries)),
        )


def _differ(place: str, claimed: Any, found: Any) -> bool:
    """True where two values of a column are no longer the same claim.

    Args:
        place: kind of the entry and name of the column, ``row.estimate``.
    """
    if place in _DAYS:
        if (claimed is _NO_COLUMN) != (found is _NO_COLUMN):
            return True
        return (claimed is None) != (found is None)
    return place not in NOT_COMPARED and not _same(claimed, found)


def _called_as_claimed(
    claimed: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, Mapping[str, Any]],
    words_of: Callable[[Mapping[str, Any]], str],
) -> dict[str, Mapping[str, Any]]:
    """Entries that were found, by the names of a claim: of those that it does not know,
    the only one of some words has the name of the only one that it has beside."""
    ours: dict[str, list[str]] = {}
    theirs: dict[str, list[str]] = {}
    for entries, others, names in ((claimed, found, ours), (found, claimed, theirs)):
        for name, row in entries.items():
            if name not in others:
                names.setdefault(words_of(row), []).append(name)
    called = {
        theirs[words][0]: names[0]
        for words, names in ours.items()
        if len(names) == 1 and len(theirs.get(words, ())) == 1
    }
    return {called.get(name, name): row for name, row in found.items()}


def _by_name(
    rows: Entries, name_of: Callable[[Mapping[str, Any]], str]
) -> dict[str, Mapping[str, Any]]:
    named: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(rows):
        words = name_of(row)
        if not words or words in named:
            words = f"{words} (row {number + 1})".strip()
        named[words] = row
    return named


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int | float) and isinstance(other, int | float):
        return math.isclose(value, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_same, value, other))
    return bool(value == other)


def _short(value: Any) -> str:
    if value is _NO_COLUMN:
        return MISSING
    return f"{value}"[:100]


def store_of_dumps(folder: Path, paths: Sequence[str], claim: Claim) -> str:
    """URL of a store in ``folder`` that is made from dumps, with the clusterings by
    fields that the claim used.

    Raises:
        MisuseError: a path that does not exist, or dumps of which nothing could be
            read.
    """
    from warehouse.ingest.pipeline import ingest
    from warehouse.store.curate.field_clusters import cluster_by
    from warehouse.store.open import open_store

    url = str(folder / "claim.db")
    with open_store(url, create=True) as store:
        fields_were_named(store, claim)
        report = ingest(store, paths)
        if not any(one.state == "loaded" for one in report.sources):
            why = "nothing there is of a known format"
            if report.refused:
                why = report.refused[0].error
            raise MisuseError(f"no dump could be read: {why}")
        for row in claim.clusterings:
            if row.get("kind") != "source":
                continue
            try:
                cluster_by(
                    store,
                    str(row.get("benchmark")),
                    str(row.get("name")).split(","),
                    default=True,
                )
            except MisuseError:
                continue  # then the errors differ, which is said
        say_again(store, claim.declared)
    return url
