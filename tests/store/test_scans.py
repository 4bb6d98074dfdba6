"""What scanners find in generations: joined to runs in any order, counted once, and
taken away again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from warehouse.records import SCAN_SCHEMA, MetricSpec, Scan
from warehouse.store.curate import headline_metric
from warehouse.store.lake import contents
from warehouse.store.load.source_ledger import forget
from warehouse.store.schema import migrate
from warehouse.store.schema.migrate import check

Row = dict[str, Any]
LONG = MetricSpec(
    "long",
    filter="scan",
    scorer="long",
    scorer_parameters={"scanner": "long"},
    unit="items",
)
CALM = MetricSpec(
    "calm", filter="scan", scorer="calm", scorer_parameters={"scanner": "calm"}
)
HOURS = [datetime(2026, 11, 22, hour) for hour in range(24)]


def found(
    uuid: str | None,
    value: float | None,
    *,
    metric: int = 0,
    hour: int = 0,
    **more: Any,
) -> Row:
    row = {
        "metric": metric,
        "uuid": uuid,
        "position": 0,
        "value": value,
        "scanned_at": HOURS[hour],
    }
    return row | {"status": "scored" if value is not None else "error"} | more


def scan_of(
    rows: list[Row], scan_id: str = "s1", metrics: tuple[MetricSpec, ...] = (CALM, LONG)
) -> dict[str, Any]:
    return {
        "scan": Scan(
            scan_id, metrics, [pa.RecordBatch.from_pylist(rows, schema=SCAN_SCHEMA)]
        )
    }


def log(kit: Any, **more: Any) -> Any:
    rows = [
        kit.row("a", 1.0, response="x", transcript={"uuid": "u1", "place": "e/a/1"}),
        kit.row(
            "a", 0.0, draw=1, response="y", transcript={"uuid": "u2", "place": "e/a/2"}
        ),
        kit.row("b", 1.0, response="z", transcript={"uuid": "u3", "place": "e/b/1"}),
    ]
    return kit.load(kit.header(), rows, **more)


def scan(kit: Any, rows: list[Row], scan_id: str = "s1", **more: Any) -> Any:
    metrics = more.pop("metrics", (CALM, LONG))
    return kit.load(
        (), dump=scan_of(rows, scan_id, metrics), path=f"{scan_id}.scan", **more
    )


SCORES = (
    "select score.run_id, prompt.tool_id, draw, metric.name, value, status from score"
    " join metric on metric.id = metric_id join prompt on prompt.id = prompt_id"
    " where origin = 'scanned' order by 1, 2, 3, 4"
)


@pytest.mark.parametrize("scan_first", [True, False])
def test_values_are_joined_whichever_comes_first(
    kit: Any, whole: Any, scan_first: bool
) -> None:
    rows = [
        found("u1", 1.0),
        found("u2", 0.0),
        found("u3", None, raw="boom"),
        found("other", 1.0),
    ]
    steps: list[Callable[[], Any]] = [lambda: scan(kit, rows), lambda: log(kit)]
    reports = [step() for step in (steps if scan_first else reversed(steps))]
    assert kit.all(SCORES) == [
        (1, "a", 0, "calm", 1.0, "scored"),
        (1, "a", 1, "calm", 0.0, "scored"),
        (1, "b", 0, "calm", None, "error"),
    ]
    means = (
        "select value, n_draws, within_variance, n_scored, n_unscored, is_binary from "
        "prompt_score"
    )
    assert kit.all(
        f"{means} join metric on metric.id = metric_id where name = 'calm' order by "
        "prompt_id"
    ) == [
        (0.5, 2, 0.5, 2, 0, True),
        (None, 0, None, 0, 1, False),
    ]
    said = (
        "select n_scored from run_metric join metric on metric.id = metric_id where "
        "name = 'calm'"
    )
    assert kit.all(said) == [(1,)]
    if scan_first:
        assert reports[0].notes == (
            "4 values of 1 scanner wait for their runs: ingest the logs that were "
            "scanned, now or later",
        )
        assert reports[1].notes == ("3 values of 1 scanner from stored scans joined",)
    else:
        assert reports[1].notes == (
            "3 values of 1 scanner joined to 3 generations; 1 waits for its run",
        )
    assert kit.one("select n_scores from run") == 3  # of the run's own dump
    kinds = (
        "select kind, low, high, higher_is_better, is_inferred from benchmark_metric "
        "where default_by = 'scan'"
    )
    assert kit.one(kinds) == ("binary", 0.0, 1.0, None, True)


def test_a_generation_without_id_is_found_by_its_place(kit: Any, whole: Any) -> None:
    log(kit)
    scan(
        kit,
        [
            found("made up", 1.0, place="e/a/1"),
            found(None, 0.0, place="e/b/1"),
            found("u2", 0.5, place="e/a/2"),
        ],
    )
    assert [(row[1], row[2], row[4]) for row in kit.all(SCORES)] == [
        ("a", 0, 1.0),
        ("a", 1, 0.5),
        ("b", 0, 0.0),
    ]


def test_a_list_is_counted_and_an_empty_one_is_a_finding(kit: Any, whole: Any) -> None:
    log(kit)
    items = [
        found(
            "u1",
            None,
            metric=1,
            position=n,
            raw=f"w{n}",
            label="word",
            status="not_scalar",
        )
        for n in (1, 2)
    ]
    scan(kit, [found("u1", 2.0, metric=1), *items, found("u2", 0.0, metric=1)])
    assert [(row[2], row[3], row[4]) for row in kit.all(SCORES)] == [
        (0, "long", 2.0),
        (1, "long", 0.0),
    ]
    assert kit.all(
        "select position, label, raw from scan_value where position > 0 order by 1"
    ) == [
        (1, "word", "w1"),
        (2, "word", "w2"),
    ]
    kinds = (
        "select kind, low, high, higher_is_better from benchmark_metric where "
        "default_by = 'scan'"
    )
    assert kit.one(kinds) == ("continuous", 0.0, None, None)


def test_values_of_parts_are_one_score(kit: Any, whole: Any) -> None:
    log(kit)
    scan(
        kit,
        [
            *(found("u1", value) for value in (1.0, 4.0, None)),
            found("u2", None, raw="boom"),
            found("u2", None, raw="crash"),
            found("u1", 1.0, metric=1),
            found("u1", None, metric=1, position=1, raw="w", status="not_scalar"),
            found("u1", 2.0, metric=1),
            found("u1", None, metric=1, position=1, raw="v", status="not_scalar"),
            found("u1", None, metric=1, position=2, raw="u", status="not_scalar"),
        ],
    )
    assert [(row[2], row[3], row[4], row[5]) for row in kit.all(SCORES)] == [
        (0, "calm", 2.5, "scored"),
        (0, "long", 3.0, "scored"),
        (1, "calm", None, "error"),
    ]
    of_one = (
        "select position, value, raw from scan_value join metric on metric.id = "
        "metric_id where uuid = 'u1'"
    )
    assert kit.all(f"{of_one} and name = 'calm' order by 1") == [
        (0, 2.5, None),
        (1, 1.0, None),
        (2, 4.0, None),
        (3, None, None),
    ]
    assert [
        row[0::2]
        for row in kit.all(f"{of_one} and name = 'long' and position > 0 order by 1")
    ] == [
        (1, "w"),
        (2, "v"),
        (3, "u"),
    ]


@pytest.mark.parametrize(
    "order",
    [
        (0, 1, 2),
        (2, 1, 0),
        pytest.param(
            (1, 2, 0), marks=pytest.mark.rare
        ),  # what was refused comes first, last, in between
        *(
            pytest.param(order, marks=pytest.mark.slow)
            for order in ((0, 2, 1), (1, 0, 2), (2, 0, 1))
        ),
    ],
)
def test_the_later_scan_counts_and_errors_replace_nothing(
    kit: Any, whole: Any, order: tuple[int, ...]
) -> None:
    scans = [
        (
            "s1",
            [
                found("u1", 1.0, hour=1),
                found("u2", 0.25, hour=1),
                found("u3", 7.0, hour=1),
            ],
        ),
        (
            "s2",
            [
                found("u1", 0.0, hour=2),
                found("u2", 0.25, hour=2),
                found("u3", None, hour=2),
            ],
        ),
        ("s3", [found("u1", None, hour=3, status="refused")]),
    ]
    log(kit)
    notes = [
        note
        for place in order
        for note in scan(kit, scans[place][1], scans[place][0]).notes
    ]
    assert [row[4] for row in kit.all(SCORES)] == [0.0, 0.25, 7.0]
    assert "1 value known from another scan: counted once" in notes
    assert (
        "1 value other than in another scan of the same: the later scan counts" in notes
    )


def test_another_scanner_version_or_judge_is_another_metric(
    kit: Any, whole: Any
) -> None:
    log(kit)
    judged = MetricSpec("calm", "scan m", "calm", "model", "org/m", {"scanner": "calm"})
    scan(kit, [found("u1", 1.0), found("u1", 0.0, metric=1)], metrics=(CALM, judged))
    assert sorted(row[4] for row in kit.all(SCORES)) == [0.0, 1.0]


@pytest.mark.parametrize("scan_first", [True, False])
def test_a_scan_that_is_forgotten_takes_its_scores_along(
    kit: Any, whole: Any, scan_first: bool
) -> None:
    steps = [lambda: scan(kit, [found("u1", 1.0), found("u2", 0.0)]), lambda: log(kit)]
    for step in steps if scan_first else reversed(steps):
        step()
    before = kit.counts("score", "prompt_score", "run_metric")
    forget(kit.store, "s1.scan")
    assert before == (5, 3, 2) and kit.counts(
        "score", "prompt_score", "run_metric", "scan_value"
    ) == (3, 2, 1, 0)


def test_what_an_earlier_scan_said_counts_again(kit: Any, whole: Any) -> None:
    log(kit)
    scan(kit, [found("u1", 1.0, hour=1), found("u2", 1.0, hour=1)], "s1")
    scan(kit, [found("u1", 0.0, hour=2)], "s2")
    forget(kit.store, "s2.scan")
    assert [row[4] for row in kit.all(SCORES)] == [1.0, 1.0]


def test_a_forgotten_log_leaves_values_that_wait(kit: Any, whole: Any) -> None:
    scan(kit, [found("u1", 1.0)])
    log(kit, path="first.json")
    forget(kit.store, "first.json")
    assert kit.counts("score", "scan_value", "prompt") == (0, 1, 0)
    log(kit)
    assert [row[4] for row in kit.all(SCORES)] == [1.0]


def test_the_same_log_again_is_the_same_run(kit: Any, whole: Any) -> None:
    log(kit)
    scan(kit, [found("u1", 1.0)])
    report = log(kit)
    assert (report.n_seen_again, report.n_runs, report.notes) == (1, 0, ())
    assert kit.counts("score") == (4,)


@pytest.mark.parametrize("scan_at", [0, 1, 2])
def test_a_retry_supersedes_as_without_scans_and_gets_their_values(
    kit: Any, whole: Any, scan_at: int
) -> None:
    bad = kit.row("b", None, error="crashed", transcript={"uuid": "u3"})
    good = kit.row("a", 1.0, response="x", transcript={"uuid": "u1"})
    retried = kit.row("b", 0.0, response="z", transcript={"uuid": "u4"})
    steps = [
        lambda: kit.load(kit.header(), [good, bad]),
        lambda: kit.load(kit.header(), [good, retried]),
    ]
    steps.insert(
        scan_at,
        lambda: scan(kit, [found("u1", 1.0), found("u3", 0.0), found("u4", 1.0)]),
    )
    for step in steps:
        step()
    assert kit.all("select superseded_by from run order by id") == [(2,), (None,)]
    assert [(row[0], row[1], row[4]) for row in kit.all(SCORES)] == [
        (1, "a", 1.0),
        (1, "b", 0.0),
        (2, "a", 1.0),
        (2, "b", 1.0),
    ]


def test_a_shorter_retry_that_comes_late_is_below(kit: Any, whole: Any) -> None:
    log(kit)
    scan(kit, [found(name, 1.0) for name in ("u1", "u2", "u3")])
    kit.load(kit.header(), [kit.row("a", 1.0, response="x", transcript={"uuid": "u1"})])
    assert kit.all("select superseded_by from run order by id") == [(None,), (1,)]


def test_a_log_of_before_transcripts_is_joined_when_it_is_read_again(
    kit: Any, whole: Any
) -> None:
    kit.load(kit.header(), [kit.row("a", 1.0, response="x")])
    scan(kit, [found("u1", 1.0)])
    again = [kit.row("a", 1.0, response="x", transcript={"uuid": "u1"})]
    assert kit.load(kit.header(), again).notes == (
        "1 value of 1 scanner from stored scans joined",
    )
    assert [row[4] for row in kit.all(SCORES)] == [1.0]


def test_a_dry_run_joins_and_stores_nothing(kit: Any, whole: Any) -> None:
    log(kit)
    report = scan(kit, [found("u1", 1.0)], dry_run=True)
    assert report.notes == ("1 value of 1 scanner joined to 1 generation",)
    assert kit.counts("scan_value", "score") == (0, 3)


def test_a_scanner_is_no_headline_unless_a_person_says_so(kit: Any, whole: Any) -> None:
    bare = [{"run": 0, "prompt_id": "a", "response": "x", "transcript": {"uuid": "u1"}}]
    kit.load(kit.header(), bare)
    scan(kit, [found("u1", 1.0)])
    headlines = "select count(*) from headline_metric where is_default"
    assert kit.one(headlines) == 0
    headline_metric.choose(kit.store, "quiz", "calm,scan")
    assert kit.one(headlines) == 1
    kit.load(kit.header("2"), [kit.row("a", 0.0)])
    assert kit.all(
        "select chosen.is_default from headline_metric chosen order by 1"
    ) == [(False,), (True,)]


def test_a_direction_that_was_said_of_the_scan_is_known(kit: Any, whole: Any) -> None:
    lower = MetricSpec(**{**vars(CALM), "higher_is_better": False})
    scan(kit, [found("u1", 1.0)], metrics=(lower,))
    log(kit)
    assert (
        kit.one(
            "select higher_is_better from benchmark_metric where default_by = 'scan'"
        )
        is False
    )


def test_strange_values_are_refused_or_kept_whole(kit: Any, whole: Any) -> None:
    scan(
        kit,
        [found("u1", None, raw="a\ud7ff'; drop table score; --", status="not_scalar")],
    )
    log(kit)
    assert (
        kit.one("select raw from score where origin = 'scanned'")
        == "a\ud7ff'; drop table score; --"
    )


def test_what_a_dump_says_is_not_of_a_scan(kit: Any, whole: Any) -> None:
    kit.load(
        kit.header(),
        [
            kit.row(
                "a",
                scores=[
                    {
                        "metric": "calm",
                        "filter": "scan",
                        "value": 1,
                        "origin": "scanned",
                    }
                ],
            )
        ],
    )
    assert kit.all("select origin from score") == [("recorded",)]


def test_faults_of_scans_are_found(kit: Any) -> None:
    scan(kit, [found("u1", 1.0)])
    kit.do("insert into scan_value select * from scan_value")
    kit.do("update scan_value set metric_id = 99, status = 'odd'")
    found_faults = {
        (item.check, group["table_name"])
        for item in check(kit.store).integrity
        for group in item.groups
    }
    assert found_faults == {
        ("duplicate_facts", "scan_value"),
        ("orphan_facts", "scan_value"),
        ("vocabulary", "scan_value"),
    }


def test_0008_takes_scans_away_and_leaves_the_rest(kit: Any) -> None:
    log(kit)
    scan(kit, [found("u1", 1.0)])
    migrate.downgrade(kit.store, "0007")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.counts(
        "generation", "score", "scan_value", "prompt_score", "run_metric"
    ) == (3, 3, 0, 2, 1)
    assert check(kit.store).ok


def test_marks_of_lakes_change_with_scans(kit: Any) -> None:
    def marks() -> tuple[Any, Any]:
        return contents.marks(kit.store, "run_marks")[0], contents.marks(
            kit.store, "scan_marks"
        )[0]

    log(kit)
    seen = [marks()]
    for rows, name in (([found("u1", 1.0)], "s1"), ([found("u1", 0.0)], "s2")):
        scan(kit, rows, name)
        seen.append(marks())
    for name in ("s1", "s2"):
        forget(kit.store, f"{name}.scan")
        seen.append(marks())
    runs, scans = zip(*seen, strict=True)
    assert len({str(item) for item in runs}) == 4 and runs[0] == runs[4]
    assert [len(item) for item in scans] == [0, 1, 2, 1, 0]
