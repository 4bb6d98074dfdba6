"""Importer of aider's leaderboards: published shares of solved exercises, without
samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    number_in_text,
    object_of,
    share_of,
    text_or_none,
    without_nulls,
)
from warehouse.importers.common.jsonl import head_of, require_content
from warehouse.importers.common.yaml_text import read_yaml
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = "aider"
KEYS = ("dirname", "test_cases", "model", "edit_format", "pass_rate_1")
#: Exercises by which a table tells what it is of: several files are of one benchmark.
_SIZES = {225: "aider_polyglot", 133: "aider_edit", 89: "aider_refactor"}
#: Shares, in percent; the last try that a table has is its headline.
_SHARES = ("pass_rate_2", "pass_rate_1", "percent_cases_well_formed")
_SETTINGS = ("edit_format", "editor_model", "editor_edit_format", "thinking_tokens")
#: What is read by itself.
_READ = frozenset(
    {
        "model",
        "dirname",
        "date",
        "versions",
        "commit_hash",
        "reasoning_effort",
        "total_cost",
    }
)
_READ |= {*_SHARES, *_SETTINGS}
_ROUNDED = 0.05 + 1e-9  # of a percentage with one decimal


class Aider:
    """Tables as ``polyglot_leaderboard.yml``: a list with an entry for each model."""

    name = "aider"
    version = (
        "2"  # 2: all that an entry says is a setting, a mark or a count of the outcome
    )
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each table."""
        for item in candidates:
            if item.path.suffix in (".yml", ".yaml"):
                head = head_of(item)
                if all(
                    re.search(rf"^[- ] *{key}:", head, re.MULTILINE) for key in KEYS
                ):
                    yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one table (InputError: it is damaged, or an entry lacks its model or its
        figures)."""
        path = source.files[0]
        require_content(path)
        entries = read_yaml(path)
        if not isinstance(entries, list) or not entries:
            raise InputError(
                "no list of entries", path=str(path), expected="a leaderboard of aider"
            )
        dump = Dump((), ())
        dump.runs = tuple(
            _header(path, number, entry, dump.notes)
            for number, entry in enumerate(entries, start=1)
        )
        return dump


def _header(path: Path, index: int, entry: Any, notes: list[str]) -> RunHeader:
    row = object_of(entry)
    model = text_or_none(row.get("model"))
    published = tuple(_published(row))
    if model is None or not any(item.value is not None for item in published):
        raise InputError(
            "no model or no pass rate",
            path=str(path),
            place=f"entry {index}",
            expected=f"{', '.join(KEYS)}",
        )
    total = _number(row.get("total_tests")) or _number(row.get("test_cases"))
    notes += _deviations(model, row, total)
    version, commit = (
        text_or_none(row.get("versions")),
        text_or_none(row.get("commit_hash")),
    )
    return RunHeader(
        harness=HARNESS,
        harness_version=version,
        harness_commit=commit,
        model=model,
        benchmark=_SIZES.get(int(total or 0))
        or f"aider_{path.stem.removesuffix('_leaderboard')}",
        agent=HARNESS,
        agent_version=version,
        agent_parameters=without_nulls({key: row.get(key) for key in _SETTINGS}),
        reasoning_effort=text_or_none(row.get("reasoning_effort")),
        metrics=tuple(
            MetricSpec(
                item.metric,
                kind="bounded",
                low=0,
                high=1,
                higher_is_better=True,
                scorer_kind="execution",
                link="none",
                is_default=number == 0,
            )
            for number, item in enumerate(published)
        ),
        run_id=text_or_none(row.get("dirname")),
        cost=_number(row.get("total_cost"))
        or None,  # 0 is written where nothing is known
        started_at=moment(row.get("date")),
        configuration={
            str(key): value for key, value in row.items() if key not in _READ
        },
        n_benchmark=int(total) if total else None,
        published=published,
        place=path.name,
    )


def _published(row: dict[str, Any]) -> Iterator[PublishedScore]:
    total = _number(row.get("total_tests"))
    asked = _number(row.get("test_cases"))
    n = total or asked
    for name in _SHARES:
        value = _number(row.get(name))
        if value is not None:
            n_prompts = None
            if n is not None:
                n_prompts = int(n)
            yield PublishedScore(
                name,
                share_of(value),
                n=n_prompts,
                raw=f"{row[name]} percent",
            )


def _deviations(model: str, row: dict[str, Any], total: float | None) -> Iterator[str]:
    """Shares that are not those of the exercises that were run."""
    cases = _number(row.get("test_cases"))
    for name in ("pass_rate_1", "pass_rate_2"):
        rate = _number(row.get(name))
        right = _number(row.get(name.replace("rate", "num")))
        if (
            rate is None
            or right is None
            or not cases
            or abs(rate - 100 * right / cases) <= _ROUNDED
        ):
            continue
        # some are cut, not rounded
        of_all = bool(total) and abs(rate - 100 * right / (total or 1)) <= 2 * _ROUNDED
        reason = "nothing there explains it"
        if of_all:
            reason = f"it is the share of all {total:g}"
        yield (
            f"{model}: {name} is {rate:g}, and {right:g} of {cases:g} were right; "
            f"{reason}"
        )


def _number(text: Any) -> float | None:
    """A number: YAML is read as text."""
    if isinstance(text, str):
        return number_in_text(text)
    return None


IMPORTER = Aider()
