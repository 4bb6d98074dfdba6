"""`db check`: a store that was loaded is clean; break one thing, and that is what is
found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.queries.test_lint import schema
from tests.support.sql_lint import faults
from warehouse.records import SCORE_ORIGINS, SCORE_STATUSES, Rejection
from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.load import source_ledger
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import CheckReport, check, checks, run_check


def fill(kit: Any) -> None:
    """Something of everything that a loader writes."""
    links = ("identity", "exp_neg", "neg_over_ln2", "none")
    kinds = ("match", "model", "execution", "human")
    metrics = [
        kit.spec("acc"),
        *(
            kit.spec(
                f"m{number}",
                link=link,
                scorer=kind,
                scorer_kind=kind,
                kind="continuous",
            )
            for number, (link, kind) in enumerate(zip(links, kinds, strict=True))
        ),
    ]
    published = (kit.figure("acc", 0.5, n=6), kit.figure("m1", 3.0))
    header = kit.header(
        "1", suite=("top", "middle"), metrics=metrics, published=published
    )
    words = [
        kit.row(
            f"s{number}",
            scores=[
                {
                    "metric": "acc",
                    "value": None if status != "scored" else 1.0,
                    "status": status,
                    "origin": origin,
                }
            ],
        )
        for number, (status, origin) in enumerate(
            zip(SCORE_STATUSES, SCORE_ORIGINS * 2, strict=True)
        )
    ]
    option = [{"choice_index": n, "loglikelihood": -1.0 - n} for n in range(3)]
    draws = [
        kit.row(
            "d",
            0.25 * draw,
            draw=draw,
            fewshot_draw=shots,
            perturbation=perturbation,
            response=f"r{draw}",
            prompt_sent="p",
            choice_scores=option,
            metadata=json.dumps({"topic": "t"}),
        )
        for draw in range(4)
        for shots in ("", "2")
        for perturbation in ("", "typos")
    ]
    special = [
        kit.row("w", scores=[{"metric": "m1", "value": 3.7, "weight": 2.5}]),
        kit.row("w", scores=[{"metric": "m2", "value": 0.3, "n_draws": 10}]),
        kit.row("w", scores=[{"metric": "m3", "value": 1.0}], draw=-1),
        {
            "run": 0,
            "position": 77,
            "identity": '{"q": 1}',
            "metadata": '{"topic": "u"}',
        },
        kit.row("v", scores=[{"metric": "m0", "value": 1e9}]),
    ]
    rejected = {"rejections": [Rejection("line 1", "{", "JSON")]}
    kit.load(
        header, words + draws + special, dump=rejected, max_rejected=1, path="one.json"
    )
    kit.load(header, words + draws + special, path="again.json")
    short = [kit.row(prompt, 1.0) for prompt in "ab"]
    kit.load(kit.header("2", n_requested=9), short, path="two.json")
    kit.load(kit.header("2"), [*short, kit.row("c", 0.0)], path="three.json")
    untold = [kit.row(prompt, 1.0, response="not kept") for prompt in "ab"]
    other = kit.header("4", benchmark="other", model="org/b")
    kit.load(other, untold, path="four.json", text="none")
    source_ledger.refuse(
        kit.store, kit.claim("bad.json"), "bad", [Rejection("line 2", "[", "JSON")]
    )
    field_clusters.cluster_by(kit.store, "quiz", ["topic"], default=True)


@pytest.fixture(scope="module")
def filled_file(
    empty_file: Path, tmp_path_factory: pytest.TempPathFactory, open_kit: Any
) -> str:
    path = shutil.copy(empty_file, tmp_path_factory.mktemp("filled") / "store.duckdb")
    with open_kit(f"duckdb:///{path}") as kit:
        fill(kit)
    return f"duckdb:///{path}"


@pytest.fixture(scope="module")
def filled_database(
    postgres_cluster: Any, empty_database: str, open_kit: Any
) -> Iterator[str]:
    name = postgres_cluster.create(template=empty_database)
    with open_kit(postgres_cluster.url(name)) as kit:
        fill(kit)
    yield postgres_cluster.url(name)
    postgres_cluster.drop(name)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("filled_file", marks=pytest.mark.engine, id="duckdb"),
        pytest.param("filled_database", marks=pytest.mark.engine, id="postgresql"),
    ],
)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A filled store of this module; every test takes back what it breaks."""
    with open_store(request.getfixturevalue(request.param), write=True) as opened:
        yield opened


def found_after(store: Store, *changes: str) -> dict[str, list[Any]]:
    """What the checks find once the store is broken; then it is mended."""
    with store.begin() as connection:
        if not store.dialect.embedded:
            connection.execute(sa.text("set local session_replication_role = replica"))
        for change in changes:
            connection.execute(sa.text(change))
        findings = [
            run_check(connection, query) for query in checks(store.dialect.name)
        ]
        found = {
            item.check: [dict(group) for group in item.groups]
            for item in findings
            if item
        }
        connection.rollback()
        connection.begin()
    return found


def test_a_loaded_store_is_clean(store: Store) -> None:
    report = check(store)
    assert report == CheckReport(drift=(), integrity=(), skipped=())
    assert (report.ok, str(report)) == (True, "schema drift: none | integrity: clean")


#: what is broken: the finding, and its groups
DRAW = "insert into draw_score select run_id, metric_id, variant_id,"
FAULTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    # references
    "update generation set variant_id = 999 where variant_id = (select max(variant_id) from generation)": (
        "orphan_facts",
        [{"table_name": "generation", "reference": "variant_id", "n": 4}],
    ),
    "update published_score set source_id = 99 where value = 3.0": (
        "orphan_facts",
        [{"table_name": "published_score", "reference": "source_id", "n": 1}],
    ),
    "update published_score set run_id = 99": (
        "orphan_facts",
        [{"table_name": "published_score", "reference": "run_id", "n": 2}],
    ),
    "update run set checkpoint_id = 99 where id = 3": (
        "orphan_dimensions",
        [{"table_name": "run", "reference": "checkpoint_id", "n": 1}],
    ),
    "update run set agent_id = 99 where id = 3": (
        "orphan_dimensions",
        [{"table_name": "run", "reference": "agent_id", "n": 1}],
    ),
    "update checkpoint set training_seed_id = 99 where id = 1": (
        "orphan_dimensions",
        [{"table_name": "checkpoint", "reference": "training_seed_id", "n": 1}],
    ),
    "update training_seed set model_id = 99 where model_id = 1": (
        "orphan_dimensions",
        [{"table_name": "training_seed", "reference": "model_id", "n": 1}],
    ),
    "update benchmark set parent_id = 99 where name = 'other'": (
        "orphan_dimensions",
        [{"table_name": "benchmark", "reference": "parent_id", "n": 1}],
    ),
    "update model set canonical_id = 99 where id = 1": (
        "orphan_dimensions",
        [{"table_name": "model", "reference": "canonical_id", "n": 1}],
    ),
    # duplicates
    "insert into prompt_score select * from prompt_score where run_id = 4": (
        "duplicate_facts",
        [{"table_name": "prompt_score", "run_id": 4, "n": 2}],
    ),
    "insert into prompt_cluster select * from prompt_cluster": (
        "duplicate_memberships",
        [{"clustering_id": 1, "n": 2}],
    ),
    # counts
    "delete from generation where draw = 3": (
        "run_counts",
        [
            {
                "run_id": 1,
                "counter": "n_generations",
                "declared": 16,
                "found": 12,
                "n": 4,
            }
        ],
    ),
    "delete from choice": (
        "run_counts",
        [{"run_id": 1, "counter": "n_choices", "declared": 48, "found": 0, "n": 48}],
    ),
    "update source set n_seen_again = 3 where path = 'again.json'": (
        "source_counts",
        [
            {
                "source_id": 2,
                "counter": "n_runs + n_seen_again",
                "declared": 3,
                "found": 1,
                "n": 2,
            }
        ],
    ),
    "update source set n_scores = 0 where path = 'four.json'": (
        "source_counts",
        [{"source_id": 5, "counter": "n_scores", "declared": 0, "found": 2, "n": 2}],
    ),
    "delete from rejection where found = '['": (
        "source_counts",
        [{"source_id": 6, "counter": "n_rejected", "declared": 1, "found": 0, "n": 1}],
    ),
    # words and numbers
    "update score set origin = 'guessed' where run_id = 4": (
        "vocabulary",
        [{"table_name": "score", "column_name": "origin", "word": "guessed", "n": 2}],
    ),
    "update run set status = 'done' where id = 3": (
        "vocabulary",
        [{"table_name": "run", "column_name": "status", "word": "done", "n": 1}],
    ),
    "update metric set link = 'log' where name = 'm1'": (
        "vocabulary",
        [{"table_name": "metric", "column_name": "link", "word": "log", "n": 1}],
    ),
    "update source set state = 'lost' where state = 'refused'": (
        "vocabulary",
        [{"table_name": "source", "column_name": "state", "word": "lost", "n": 1}],
    ),
    "update score set status = 'scored' where status = 'refused'": (
        "score_values",
        [{"run_id": 1, "fault": "scored without a value", "n": 1}],
    ),
    # means
    "update prompt_score set value = value * (1 + 3e-9) where weight = 2.5": (
        "prompt_score",
        [{"run_id": 1, "fault": "value", "n": 1}],
    ),
    "update prompt_score set value = 'NaN' where weight = 2.5": (
        "prompt_score",
        [{"run_id": 1, "fault": "value", "n": 1}],
    ),
    "update prompt_score set within_variance = 0.1 where perturbation = 'typos'": (
        "prompt_score",
        [{"run_id": 1, "fault": "within_variance", "n": 1}],
    ),
    "update prompt_score set weight = 1 where weight = 2.5": (
        "prompt_score",
        [{"run_id": 1, "fault": "weight", "n": 1}],
    ),
    "update prompt_score set n_unscored = 0 where n_unscored = 1": (
        "prompt_score",
        [{"run_id": 1, "fault": "n_unscored", "n": 5}],
    ),
    "update prompt_score set is_binary = true where perturbation = 'typos'": (
        "prompt_score",
        [{"run_id": 1, "fault": "is_binary", "n": 1}],
    ),
    "delete from prompt_score where perturbation = 'typos'": (
        "prompt_score",
        [{"run_id": 1, "fault": "missing", "n": 1}],
    ),
    "update prompt_score set perturbation = 'x' where perturbation = 'typos'": (
        "prompt_score",
        [
            {"run_id": 1, "fault": "missing", "n": 1},
            {"run_id": 1, "fault": "surplus", "n": 1},
        ],
    ),
    "update score set value = 0.5 where value = 3.7": (
        "prompt_score",
        [{"run_id": 1, "fault": "value", "n": 1}],
    ),
    f"{DRAW} draw, value, 1 from score where value = 0.3": (
        "draw_score",
        [{"run_id": 1, "fault": "plain", "n": 1}],
    ),
    f"{DRAW} draw, value, 2 from score where value = 1e9": (
        "draw_score",
        [{"run_id": 1, "fault": "n_prompts", "n": 1}],
    ),
    f"{DRAW} draw, value * (1 + 3e-9), 1 from score where value = 1e9": (
        "draw_score",
        [{"run_id": 1, "fault": "value", "n": 1}],
    ),
    f"{DRAW} draw + 1, value, 1 from score where value = 1e9": (
        "draw_score",
        [
            {"run_id": 1, "fault": "missing", "n": 1},
            {"run_id": 1, "fault": "surplus", "n": 1},
        ],
    ),
    # rings and aliases
    "update run_source set superseded_by = null": (
        "superseded_runs",
        [{"run_id": 2, "n": 1}],
    ),
    "update benchmark set parent_id = id where name = 'top'": (
        "benchmark_rings",
        [{"benchmark_id": 3, "benchmark": "top", "n": 1}],
    ),
    "update model set canonical_id = id": (
        "alias_chains",
        [{"table_name": "model", "n": 2}],
    ),
    # the rest
    "update id_counter set next_id = 2 where table_name = 'run'": (
        "id_counters",
        [{"table_name": "run", "next_id": 2, "largest_id": 4, "n": 3}],
    ),
    "delete from id_counter where table_name = 'scorer'": (
        "id_counters",
        [{"table_name": "scorer", "next_id": None, "largest_id": 5, "n": 5}],
    ),
    "update source set state = 'loading' where path = 'bad.json'": (
        "note_unfinished_sources",
        [{"source_id": 6, "path": "bad.json", "n": 1}],
    ),
    "update benchmark_metric set default_by = 'me'": (
        "vocabulary",
        [
            {
                "table_name": "benchmark_metric",
                "column_name": "default_by",
                "word": "me",
                "n": 6,
            }
        ],
    ),
    "update run_metric set n_scored = 0 where run_id = 4": (
        "run_metrics",
        [{"run_id": 4, "metric_id": 1, "declared": 0, "found": 2, "n": 1}],
    ),
    "delete from benchmark_metric where benchmark_id = (select id from benchmark where name = 'other')": (
        "undescribed_metrics",
        [{"benchmark_id": 4, "metric_id": 1, "n": 1}],
    ),
    "update prompt set split = 'test' where benchmark_id = (select id from benchmark where name = 'other')": (
        "strange_prompts",
        [{"run_id": 4, "n": 2}],
    ),
    "update benchmark set default_clustering_id = 1 where name = 'other'": (
        "strange_clusters",
        [{"clustering_id": 1, "fault": "default of a benchmark", "n": 1}],
    ),
}


@pytest.mark.parametrize("change", FAULTS, ids=lambda change: change[:60])
def test_one_fault_is_found_alone(store: Store, change: str) -> None:
    name, groups = FAULTS[change]
    assert found_after(store, change) == {name: groups}


#: faults that cannot come alone: some of the findings, and how many rows each
MORE: dict[str, dict[str, int]] = {
    "update run set superseded_by = 2 where id = 3": {
        "superseded_rings": 4,
        "superseded_runs": 1,
    },
    "update run set superseded_by = 4 where id = 4": {
        "superseded_rings": 1,
        "superseded_runs": 1,
    },
    "delete from run where id = 4": {"orphan_facts": 8},
    "delete from prompt where key = 'd'": {"orphan_facts": 16 * 2 + 48 + 2 + 1},
    "delete from metric where name = 'm1'": {"orphan_facts": 4, "orphan_dimensions": 1},
    "delete from run_source where run_id = 4": {
        "runs_without_source": 1,
        "source_counts": 5,
    },
    "update benchmark set parent_id = (select id from benchmark where name = 'quiz') where name = 'top'": {
        "benchmark_rings": 9
    },
    "update score set variant_id = 999 where run_id = 3": {
        "orphan_facts": 3,
        "prompt_score": 3,
    },
    "update score set value = 'NaN' where value = 3.7": {"score_values": 1},
    "update score set value = '-Infinity' where value = 3.7": {"score_values": 1},
    "update score set weight = 'NaN' where weight = 2.5": {"score_values": 1},
    "update score set n_draws = 0 where value = 0.3": {
        "score_values": 1,
        "prompt_score": 1,
    },
    "update score set weight = -1 where weight = 2.5": {
        "score_values": 1,
        "prompt_score": 1,
    },
    "update prompt_cluster set cluster_id = 99": {"orphan_facts": 2},
    "update prompt_cluster set prompt_id = (select max(prompt_id) from score where "
    "run_id = 4) "
    "where prompt_id = (select max(prompt_id) from prompt_cluster)": {
        "strange_clusters": 1
    },
    "insert into label_draw (benchmark_id, variant_id, draw, wave, rule, stratum, "
    "probability) "
    "select min(benchmark.id), min(prompt_variant.id), 0, 0, 'simple', '', 0 from benchmark, prompt_variant": {
        "preference_values": 1
    },
    "update run set n_scores = 7 where id = 4": {"run_counts": 5, "source_counts": 5},
    "update run set n_found = 1 where id = 3": {"run_counts": 2, "source_counts": 2},
    "insert into generation select * from generation where draw = 1": {
        "duplicate_facts": 4,
        "run_counts": 4,
    },
    "insert into choice select * from choice where choice_index = 2": {
        "duplicate_facts": 16,
        "run_counts": 16,
    },
    "insert into score select * from score where value = 1e9": {
        "duplicate_facts": 1,
        "run_counts": 1,
        "prompt_score": 1,
    },
}


@pytest.mark.parametrize("change", MORE, ids=lambda change: change[:60])
def test_a_fault_with_consequences_is_found(store: Store, change: str) -> None:
    found = found_after(store, change)
    n = {
        name: sum(group["n"] for group in found.get(name, [])) for name in MORE[change]
    }
    assert n == MORE[change], found


def test_keys_that_stand_twice(store: Store) -> None:
    """Where the constraints are gone, as after a restore without them."""
    twice = "insert into model select * from model where name = 'org/a'"
    if store.dialect.embedded:
        lose = [
            "create table copied as select * from model",
            "drop table model",
            "alter table copied rename to model",
        ]
    else:
        lose = [
            "alter table model drop constraint uq_model_name",
            "alter table model drop constraint pk_model cascade",
        ]
    assert found_after(store, *lose, twice) == {
        "duplicate_keys": [
            {"table_name": "model", "key_name": "id", "n": 1},
            {"table_name": "model", "key_name": "natural key", "n": 1},
        ]
    }


def test_texts_that_stand_twice(store: Store) -> None:
    changes = ["insert into content select * from content"]
    if not store.dialect.embedded:
        changes.insert(0, "drop index uq_content_sha256")
    assert found_after(store, *changes) == {"duplicate_texts": [{"n": 5}]}


def test_every_check_is_seen_to_fail(store: Store) -> None:
    proved = {name for name, _ in FAULTS.values()} | {
        name for more in MORE.values() for name in more
    }
    proved |= {"duplicate_keys", "duplicate_texts"}
    assert {query.name for query in checks(store.dialect.name)} == proved


def test_the_checks_stay_in_the_portable_subset() -> None:
    found = {query.name: faults(query.text, schema()) for query in checks()}
    assert {name: lines for name, lines in found.items() if lines} == {}


# --- the report ------------------------------------------------------------------------------


def test_the_report_names_what_is_wrong(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0, "b": 0.0}))
    kit.do("update score set metric_id = 9")
    kit.do("update source set state = 'loading'")
    report = check(kit.store)
    assert not report.ok
    findings = {item.check: item for item in report.integrity}
    orphans = findings["orphan_facts"]
    assert (orphans.severity, orphans.n, orphans.n_groups) == ("error", 2, 1)
    assert str(orphans) == (
        "orphan_facts: Facts that point to a row which is not there. 2 found: "
        "table_name score, reference metric_id, n 2"
    )
    assert findings["note_unfinished_sources"].severity == "note"
    assert "orphan_facts 2" in str(report) and "\n" not in str(report)
    told = json.loads(json.dumps(report.to_dict()))
    assert (told["ok"], told["drift"]) == (False, [])
    assert "orphan_facts" in [item["check"] for item in told["integrity"]]


def test_drift_does_not_hide_what_can_still_be_checked(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    kit.do("drop table choice")
    kit.do("delete from run_source")
    report = check(kit.store)
    assert not report.ok and any("choice" in line for line in report.drift)
    assert "runs_without_source" in [item.check for item in report.integrity]
    assert set(report.skipped) == {
        "duplicate_facts",
        "orphan_facts",
        "run_counts",
        "strange_prompts",
    }
    assert "not checked: " in str(report)


def test_a_store_open_for_reading_can_be_checked(store_url: str) -> None:
    with open_store(store_url) as store:
        assert check(store).ok
