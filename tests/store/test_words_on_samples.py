"""What several sources say of the samples and figures of one run: the first that says a
value gives it, in any order, and it goes with the last that says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import permutations
from typing import Any, NamedTuple

import pytest

from tests.support.stores import empty_store
from warehouse.importers.base import batch_of
from warehouse.records import Dump, PublishedScore, RunHeader
from warehouse.store.load import source_ledger
from warehouse.store.load.state import LoadOptions
from warehouse.store.schema.migrate import check
from warehouse.testing.contents import contents, differences

pytestmark = [pytest.mark.engine]

Rows = list[dict[str, Any]]


class Source(NamedTuple):
    """What a source holds."""

    header: RunHeader
    rows: Rows
    others: tuple[RunHeader, ...] = ()  #: of its further runs.
    #: what it publishes of several runs together.
    of_suites: tuple[PublishedScore, ...] = ()


#: A store in which sources were loaded.
Opener = Callable[[], AbstractContextManager[Any]]


@pytest.fixture(params=["duckdb", "postgresql"])
def empty(request: pytest.FixtureRequest, open_kit: Any) -> Opener:
    @contextmanager
    def opened() -> Iterator[Any]:
        with empty_store(request, request.param) as url, open_kit(url) as kit:
            yield kit

    return opened


def rows_of(kit: Any, *details: dict[str, Any]) -> Rows:
    """Samples with equal scores and responses, and other details."""
    choices = [{"choice_index": 0, "loglikelihood": -1.0}]
    return [
        kit.row(
            f"q{place}",
            float(place % 2),
            response=f"said {place}",
            choice_scores=choices,
            **detail,
        )
        for place, detail in enumerate(details)
    ]


def load(kit: Any, sources: dict[str, Source], names: Sequence[str]) -> dict[str, str]:
    """Ids of sources, by name, loaded one after the other."""
    ids = {}
    for name in names:
        source = sources[name]
        claim = kit.claim(name, f"{list(sources).index(name):064}")
        dump = Dump(
            (source.header, *source.others),
            [batch_of(source.rows)],
            published=source.of_suites,
        )
        kit.loader.load(dump, claim, LoadOptions())
        ids[name] = str(claim.id)
    return ids


def held(kit: Any) -> dict[str, list[str]]:
    report = check(kit.store)
    assert report.ok, str(report)
    return contents(kit.store)


def left(
    empty: Opener, sources: dict[str, Source], orders: Iterable[Sequence[str]]
) -> dict[Any, Any]:
    """Differences to a fresh store, where sources came in each of the orders and were
    forgotten one by one, in that order and backwards."""
    fresh: dict[tuple[str, ...], Any] = {}
    wrong = {}
    for order in orders:
        for gone in (order[:-1], order[:0:-1]):
            with empty() as kit:
                ids = load(kit, sources, order)
                for number, name in enumerate(gone):
                    source_ledger.forget(kit.store, ids[name])
                    stays = tuple(
                        item for item in order if item not in gone[: number + 1]
                    )
                    if stays not in fresh:
                        with empty() as other:
                            load(other, sources, stays)
                            fresh[stays] = held(other)
                    found = differences(held(kit), fresh[stays])
                    if found:
                        wrong[(*order,), (*gone[: number + 1],)] = found
    return wrong


def sources_of_samples(kit: Any) -> dict[str, Source]:
    header = kit.header(None)
    return {
        "bare": Source(header, rows_of(kit, {}, {}, {})),
        "seconds": Source(
            header,
            rows_of(kit, {"latency": 1.5}, {}, {"latency": 2.5, "explanation": "so"}),
        ),
        "words": Source(
            header,
            rows_of(
                kit,
                {"explanation": "as", "extracted_answer": "A", "prompt_sent": "Say a"},
                {"explanation": "if", "output_tokens": 7},
                {"explanation": "but", "cost": 0.25},
            ),
        ),
    }


def test_details_of_samples_are_those_of_all_sources(empty: Opener) -> None:
    """What the first leaves out the next says; what both say is the word of the first."""
    with empty() as kit:
        sources = sources_of_samples(kit)
        load(kit, sources, ["bare", "seconds", "words"])
        assert kit.counts("run") == (1,)
        assert kit.all(
            "select latency, cost, output_tokens, extracted_answer, explanation from "
            "generation order by prompt_id"
        ) == [
            (1.5, None, None, "A", "as"),
            (None, None, 7, None, "if"),
            (2.5, 0.25, None, None, "so"),
        ]
        sent = (
            "select text from generation join content on content.sha256 = "
            "generation.prompt_hash"
        )
        assert kit.all(sent) == [("Say a",)]


@pytest.mark.slow_on_server  # as published figures, below
def test_details_go_with_the_last_source_that_says_them(empty: Opener) -> None:
    with empty() as kit:
        sources = sources_of_samples(kit)
    assert left(empty, sources, [("bare", "seconds", "words")]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("empty", ["duckdb"], indirect=True)
def test_details_and_figures_in_every_order(empty: Opener) -> None:
    with empty() as kit:
        of_samples, of_figures = sources_of_samples(kit), sources_of_figures(kit)
    assert left(empty, of_samples, permutations(of_samples)) == {}
    assert left(empty, of_figures, permutations(of_figures)) == {}


def sources_of_figures(kit: Any) -> dict[str, Source]:
    rows = rows_of(kit, {}, {})
    accuracy, other = kit.figure("acc", 0.5, standard_error=0.1), kit.figure("acc", 0.6)
    f1, best = (
        kit.figure("f1", 0.7),
        kit.figure("acc", None, statistic="best", raw="N/A"),
    )
    return {
        "none": Source(kit.header(None), rows),
        "one": Source(kit.header(None, published=(accuracy, f1)), rows),
        "other": Source(kit.header(None, published=(other, best)), rows),
    }


@pytest.mark.rare
def test_published_figures_go_with_the_last_source_that_says_them(
    empty: Opener,
) -> None:
    with empty() as kit:
        sources = sources_of_figures(kit)
        load(kit, sources, ["none", "one", "other"])
        stored = (
            "select source_id, statistic, value, raw from published_score order by "
            "metric_id, statistic"
        )
        assert kit.all(stored) == [
            (3, "best", None, "N/A"),
            (2, "mean", 0.5, None),
            (2, "mean", 0.7, None),
        ]
    assert left(empty, sources, [("none", "one", "other")]) == {}


def sources_of_suites(kit: Any) -> dict[str, Source]:
    """Sources of two runs of a suite, which publish different figures of it; and one
    that has a run more."""
    headers = [
        kit.header("1", benchmark=name, suite=("exam",))
        for name in ("one", "two", "three")
    ]
    rows = [
        {**kit.row(f"q{n}", float(n % 2)), "run": run}
        for run in range(2)
        for n in range(3)
    ]
    more = [*rows, {**kit.row("q0", 1.0), "run": 2}]
    mean, other = (
        kit.figure("acc", 0.5, benchmark="exam", standard_error=0.1),
        kit.figure("acc", 0.6, benchmark="exam"),
    )
    f1 = kit.figure("f1", 0.7, benchmark="exam")
    first, *two = headers[:2]
    return {
        "none": Source(first, rows, (*two,)),
        "mean": Source(first, rows, (*two,), (mean,)),
        "both": Source(first, rows, (*two,), (other, f1)),
        "more": Source(first, more, (*headers[1:],), (f1,)),
    }


def test_figures_of_suites_come_from_all_sources(empty: Opener) -> None:
    with empty() as kit:
        sources = sources_of_suites(kit)
        stored = (
            "select source_id, value, standard_error from published_score where run_id "
            "is null order by 1, 2"
        )
        load(kit, sources, ["none", "mean", "both"])
        assert kit.counts("run") == (2,)
        assert kit.all(stored) == [(2, 0.5, 0.1), (3, 0.7, None)]


@pytest.mark.slow_on_server  # as figures of runs, above
def test_figures_of_suites_go_with_the_last_source_that_says_them(
    empty: Opener,
) -> None:
    with empty() as kit:
        sources = sources_of_suites(kit)
    assert left(empty, sources, [("none", "mean", "both")]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("empty", ["duckdb"], indirect=True)
def test_figures_of_suites_in_every_order(empty: Opener) -> None:
    with empty() as kit:
        sources = sources_of_suites(kit)
    assert left(empty, sources, permutations(sources)) == {}


def test_other_seconds_are_another_execution(empty: Opener) -> None:
    """Equal scores that took other times, or cost something else, are two; a sum that
    says nothing tells nothing."""
    with empty() as kit:
        for detail in (
            {"latency": 1.0},
            {"latency": 1.25},
            {"latency": 1.0, "cost": 0.5},
            {"cost": 0.0},
            {},
        ):
            kit.load(kit.header(None), rows_of(kit, detail, detail))
        assert kit.all(
            "select latency, cost from generation where draw = 0 order by run_id, "
            "prompt_id"
        ) == [
            (1.0, 0.5),
            (1.0, 0.5),
            (1.25, None),
            (1.25, None),
        ]


def test_one_source_that_holds_a_run_twice_says_one_thing(empty: Opener) -> None:
    """Its first place goes before the second, which says what the first leaves out."""
    with empty() as kit:
        headers = [kit.header(None, place="a"), kit.header(None, place="b")]
        first = rows_of(kit, {"latency": 1.5}, {})
        second = [
            row | {"run": 1}
            for row in rows_of(kit, {"explanation": "as"}, {"output_tokens": 7})
        ]
        kit.load(headers, first + second)
        assert kit.all(
            "select latency, output_tokens, explanation from generation order by "
            "run_id, prompt_id"
        ) == [
            (1.5, None, "as"),
            (None, 7, None),
        ]
        assert check(kit.store).ok
