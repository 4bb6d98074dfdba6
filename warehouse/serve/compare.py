"""Two models: the difference on each benchmark, and the prompts on which they disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import Any

from warehouse.analysis.compare.answer import ComparedPairs, Comparison, compared_pairs
from warehouse.analysis.compare.exploratory import Exploratory, explore, freeze
from warehouse.analysis.compare.flips import (
    SHOW,
    Flips,
    Ids,
    PairedPrompt,
    PromptFilter,
    flips_of_pairs,
    prompts_of,
)
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.brief import Names, units_of
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import OVERALL, better_in_words, explain
from warehouse.analysis.results import plain
from warehouse.analysis.selection.reference import OpenChoiceError
from warehouse.charts.picture import Picture
from warehouse.charts.pictures import Interval, forest
from warehouse.errors import MisuseError, StatisticsError
from warehouse.records.canonical_json import json_text
from warehouse.records.clock import utc_now
from warehouse.records.credentials import masked
from warehouse.serve.differences import compared_parts
from warehouse.serve.page import Download, Page, PageRequest, Site, question_from
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.units import Unit
from warehouse.tables.words import listed, span_of

#: What an address may say of the comparison.
COMPARISON_FIELDS = (
    *("a", "b", "benchmark", "metric", "where", "cluster", "latest", "level"),
    *("method", "estimand", "equivalence", "across_links", "seed", "force"),
)
#: Of the filter.
FILTER = ("text", "field", "in_cluster", "show", "least")
#: Seconds that a page waits for a comparison before it says that it is being made.
PATIENCE = 0.8
#: Prompts of a page, benchmarks of the table and of the picture, and names of models
#: that are offered.
PROMPTS, BENCHMARKS, DRAWN, NAMES = 10, 60, 24, 300
#: Conditions that a page offers where a name means several.
_MOST_CHOICES = 40


@dataclass(frozen=True, eq=False)
class Looked:
    """The part of a comparison that a filter keeps."""

    flips: Flips
    prompts: Ids | None  #: that it keeps by what they are; None for all.
    exploratory: Exploratory | None  #: the difference on these; None for all.


def compare(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/compare?a=MODEL&b=MODEL``."""
    names = site.answers.once("models", _models)
    form = {
        "offered": names[:NAMES],
        "n_names": len(names),
        "kept": COMPARISON_FIELDS[4:],
        "show": SHOW,
        "looked": None,
        "choices": [],
    }
    form |= {"filter": FILTER, "problem": "", "chosen": _chosen(request)}
    if not (request.value("a") and request.value("b")):
        return Page("compare.html.j2", "Compare", form, names)
    title = masked(f"{request.value('a')[:100]} against {request.value('b')[:100]}")
    try:
        question = _question(request)
        if site.large.once_soon(*_named(question, request), PATIENCE) is None:
            return Page(
                "waiting.html.j2",
                title,
                {"what": "The two are being compared."},
                None,
                [question],
                again=1,
            )
        compared, prompt_filter, looked = read(site, request)
        start = _start(request, looked.flips)
    except (MisuseError, StatisticsError) as error:
        return Page(
            "compare.html.j2",
            title,
            form | _problem(error, request),
            {"error": masked(str(error))},
            status=400,
        )
    comparison = compared.comparison
    with site.store.lend() as store:
        has_texts = not store.dialect.is_lake
        rows = looked.flips.rows(store, start, PROMPTS) if has_texts else ()
    end = start + len(rows)
    table = [*comparison.rows[:BENCHMARKS]]
    if comparison.overall:
        table.append(comparison.overall)
    units = units_of(table, in_percent=comparison.is_share)
    shown = form | {
        "compared": compared,
        "comparison": comparison,
        "models": comparison.models,
        "how": explain(
            comparison.rows,
            comparison.overall,
            n_tests=comparison.n_tests,
            n_resamples=comparison.n_resamples,
            seed=comparison.seed,
        ),
        "names": Names.of(comparison.rows[0]),
        "units": units,
        "unit_of": lambda row: Unit.of(
            [row["standard_error"]], in_percent=units[0].in_percent
        ),
        "overall": OVERALL,
        "table": table,
        "n_left": max(0, len(comparison.rows) - BENCHMARKS),
        "pictures": pictures(comparison),
        "looked": looked,
        "prompt_filter": prompt_filter,
        "has_texts": has_texts,
        "prompts": [_side_by_side(row) for row in rows],
        "start": start,
        "end": end,
    }
    question, chosen = replace(compared.question, flips=PROMPTS), _chosen(request)
    questions = [replace(question, benchmark=name) for name in chosen[:DRAWN]] or [
        question
    ]
    answer = None
    if request.value("format") == "json":
        answer = _for_programs(comparison, looked, rows, end)
    return Page(
        "compare.html.j2",
        f"{comparison.a} against {comparison.b}",
        shown,
        answer,
        questions,
    )


def _problem(error: Exception, request: PageRequest) -> dict[str, Any]:
    """What is wrong; of a choice that is open, links to what each may mean, and to the
    newest of all."""
    words = masked(str(error))
    if not isinstance(error, OpenChoiceError):
        return {"problem": words}
    several = len({choice.benchmark for choice in error.choices}) > 1
    links = [("The newest of each", request.url(latest=1))]
    for choice in error.choices[:_MOST_CHOICES]:
        sides = [side for side in ("a", "b") if request.value(side) == choice.text]
        changes: dict[str, Any] = dict.fromkeys(sides, choice.run)
        if several:
            changes["benchmark"] = choice.benchmark
        label = f"{choice.text} on {choice.benchmark}: {choice.words}"
        links.append((masked(label), request.url(**changes)))
    return {"problem": words.partition(":\n")[0], "choices": links}


def _for_programs(
    comparison: Comparison, looked: Looked, rows: Sequence[PairedPrompt], end: int
) -> dict[str, Any]:
    counts = looked.flips.counts
    return {
        "sentence": comparison.sentence,
        "rows": plain(
            [*comparison.rows, *([comparison.overall] if comparison.overall else [])]
        ),
        "left_out": list(comparison.left_out),
        "exploratory": looked.exploratory and asdict(looked.exploratory),
        "counts": plain(counts) | {"overlap": counts.overlap},
        "n_flips": len(looked.flips),
        "flips": plain(rows),
        "next": rows[-1].key if rows and end < len(looked.flips) else None,
    }


def read(
    site: Site, request: PageRequest
) -> tuple[ComparedPairs, PromptFilter, Looked]:
    """The comparison and the filter that an address says, and what that keeps.

    Raises:
        MisuseError: of the address, or of the comparison.
        StatisticsError: a number out of range.
    """
    question, prompt_filter = (
        _question(request),
        question_from(PromptFilter, request, FILTER),
    )
    chosen, read_pairs = _named(question, request)
    compared = site.large.once(chosen, read_pairs)
    of_prompts = replace(prompt_filter, show="all", least=None)
    prompts, exploratory = (None, None)
    if of_prompts.of_prompts:
        prompts, exploratory = site.large.once(
            f"{chosen} {of_prompts!r} explored",
            lambda store: _explored(store, compared, of_prompts),
        )
    flips = site.large.made(
        f"{chosen} {prompt_filter!r}",
        lambda: flips_of_pairs(compared.pairs, prompt_filter, prompts),
    )
    return compared, prompt_filter, Looked(flips, prompts, exploratory)


def _named(
    question: Compare, request: PageRequest
) -> tuple[str, Callable[[Store], ComparedPairs]]:
    """The comparison on the benchmarks that an address names; on one or all its own
    question says so."""
    chosen = _chosen(request)
    several = []
    if len(chosen) > 1:
        several = chosen
    return f"{question!r} {several} with pairs", lambda store: compared_pairs(
        store, question, several
    )


def _question(request: PageRequest) -> Compare:
    chosen = _chosen(request)
    question = question_from(
        Compare, request, [name for name in COMPARISON_FIELDS if name != "benchmark"]
    )
    if len(chosen) == 1:
        return replace(question, benchmark=chosen[0])
    return question


def _chosen(request: PageRequest) -> list[str]:
    """Benchmarks, each once; several stand in one value, a line each, as a form sends
    them, or in several."""
    lines: list[str] = []
    for value in request.values("benchmark"):
        lines += map(str.strip, value.splitlines())
    return [*dict.fromkeys(line for line in lines if line)]


def _explored(
    store: Store, compared: ComparedPairs, prompt_filter: PromptFilter
) -> tuple[Ids | None, Exploratory | None]:
    prompts = prompts_of(store, compared.pairs, prompt_filter)
    return prompts, None if prompts is None else explore(compared, prompts)


def hypothesis(site: Site, request: PageRequest) -> Download:
    """The file of the address ``/hypothesis.json``: the claim that looking gave, to be
    tested on other data."""
    compared, prompt_filter, looked = read(site, request)
    runs: set[int] = set()
    for pair in compared.pairs:
        runs.update(pair.a.run_ids, pair.b.run_ids)
    with site.store.lend() as store:
        sources = store.rows(
            query_text("analysis", "claim_sources"),
            {"run_ids": sorted(runs), "source_ids": ()},
        )
    named = sorted(
        {
            (PurePath(row["path"].replace("\\", "/")).name, row["sha256"])
            for row in sources
        }
    )
    listed = [{"path": path, "sha256": sha256} for path, sha256 in named]
    content = freeze(compared, prompt_filter, looked.prompts, listed, utc_now())
    return Download("hypothesis.json", json_text(content) + "\n", "application/json")


def pictures(comparison: Comparison) -> list[Picture | None]:
    """The differences, one below the other: overall last, or, where they have no mean,
    those of each metric apart."""
    rows = comparison.rows[:DRAWN]
    if comparison.overall:
        return [_picture(comparison, [*rows, comparison.overall])]
    by_metric: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    return [_picture(comparison, drawn) for drawn in by_metric.values()]


def _picture(comparison: Comparison, drawn: Sequence[ComparisonRow]) -> Picture | None:
    n = len(comparison.rows)
    names = Names.of(drawn[0])
    units = units_of(drawn, in_percent=comparison.is_share)
    unit = Unit(max(unit.digits for unit in units), units[0].in_percent)
    points = " in points" if unit.in_percent else ""
    if len(drawn) == 1:
        on = drawn[0].benchmark
    elif n > DRAWN:
        on = f"{DRAWN} of {n} benchmarks"
    else:
        on = "each benchmark"
    return forest(
        f"{names.a} less {names.b}, {drawn[-1].metric}{points}, on {on}",
        [_interval(row, unit) for row in drawn],
        figure=f"{names.a} less {names.b}",
        n_decimals=unit.digits,
        note=_note(comparison, drawn),
        zero=True,
    )


def _note(comparison: Comparison, drawn: Sequence[ComparisonRow]) -> str:
    """How many prompts a picture rests on, and by what method."""
    methods = sorted(
        {row.method.replace("_", " ") for row in drawn if row.benchmark != OVERALL}
    )
    parts = [comparison.one_line]
    if len(comparison.rows) > 1 and not comparison.overall:
        span = span_of([row.n_prompts for row in drawn])
        parts.append(f"{span} common questions")
    parts.append(f"{100 * drawn[0].level:g}% intervals by {listed(methods)}")
    return "; ".join(parts)


def _interval(row: ComparisonRow, unit: Unit) -> Interval:
    name = row.benchmark
    if row.split:
        name += f" ({row.split})"
    return Interval(
        name,
        unit.many([row.difference])[0],
        unit.in_unit(row.ci_low),
        unit.in_unit(row.ci_high),
        better_in_words(row) in ("a", "b"),
    )


def _models(store: Store) -> list[str]:
    """Names of models with current runs, as views show them."""
    rows = store.rows(query_text("store", "models"))
    return sorted({row["shown_as"] for row in rows if row["n_runs"]})


def _start(request: PageRequest, flips: Flips) -> int:
    """Index of the first prompt on the page that an address asks for."""
    if request.value("after"):
        return flips.index_after(request.value("after"))
    if before := request.value("before"):
        after = flips.index_after(before)
        return max(0, after - bool(after and flips.key(after - 1) == before) - PROMPTS)
    return 0


def _side_by_side(row: PairedPrompt) -> dict[str, Any]:
    """A prompt with both responses and what differs between them."""
    a, b = compared_parts(
        row.response_a or row.choice_a or "", row.response_b or row.choice_b or ""
    )
    return {"row": row, "a": a, "b": b, "which": int(row.key.rpartition(":")[2])}
