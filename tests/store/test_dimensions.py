"""Who, on what and by which figures: dimensions that grow from load to load."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from warehouse.errors import MisuseError
from warehouse.store.curate import field_clusters
from warehouse.store.schema import tables
from warehouse.store.schema.migrate import check


def test_a_run_points_to_everything_its_header_names(kit: Any) -> None:
    kit.load(
        kit.header(
            "r1",
            model="org/a-7b",
            family="a",
            parameter_count=7_000_000_000,
            training_seed="s1",
            initialisation_seed=3,
            recipe="r",
            hyperparameters={"lr": 0.1},
            step=400,
            tokens=2**40,
            revision="main",
            is_final=False,
            agent="aider",
            agent_version="2",
            agent_parameters={"k": 1},
            suite=("suite", "scenario"),
            benchmark="leaf",
            benchmark_version="v1",
            dataset_revision="d1",
            split="test",
            harness_version="0.4",
            harness_commit="abc",
            hardware="8 x H100",
            cost=1.5,
            temperature=0.7,
            top_p=0.9,
            max_tokens=2**40,
            sampling_seed=2**40,
            sampling={"top_k": 5},
            fewshot=3,
            started_at=datetime(2026, 1, 2, 3, 4, 5),
            tags=("x", "y"),
            note="n",
        ),
        kit.rows({"a": 1.0}),
    )
    seen = kit.one(
        "select model, developer, training_seed, recipe, checkpoint, position, "
        "position_unit, tokens, agent, agent_version, benchmark, split, harness, "
        "harness_version, temperature, max_tokens, sampling_seed, started_at, note "
        "from run_current"
    )
    assert seen == (
        "org/a-7b",
        "org",
        "s1",
        "r",
        "step=400@main",
        400.0,
        "step",
        2**40,
        "aider",
        "2",
        "leaf",
        "test",
        "tool",
        "0.4",
        0.7,
        2**40,
        2**40,
        datetime(2026, 1, 2, 3, 4, 5),
        "n",
    )
    stored = kit.one("select cast(tags as varchar), cast(sampling as varchar) from run")
    assert [json.loads(text) for text in stored] == [["x", "y"], {"top_k": 5}]
    assert kit.one("select cost, hardware, commit_hash from run_group") == (
        1.5,
        "8 x H100",
        "abc",
    )
    assert json.loads(
        kit.one("select cast(hyperparameters as varchar) from training_seed")
    ) == {"lr": 0.1}
    assert json.loads(kit.one("select cast(parameters as varchar) from agent")) == {
        "k": 1
    }


def test_what_is_not_known_is_null_not_a_json_null(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    nulls = kit.one(
        "select count(tags) + count(sampling) + count(configuration) + "
        "count(temperature) from run"
    )
    assert nulls == 0
    assert (
        kit.one(
            "select count(metadata) + count(choices) + count(text_hash) from prompt"
        )
        == 0
    )
    assert kit.one("select count(notes) from source") == 0


def test_checkpoints_of_one_training_are_told_apart(kit: Any) -> None:
    headers = [
        kit.header(str(step), step=step, training_seed=seed)
        for step in (100, 200)
        for seed in ("1", "2")
    ]
    kit.load(headers, [kit.row("a", 1.0, run=run) for run in range(4)])
    assert kit.counts("model", "training_seed", "checkpoint", "run") == (1, 2, 4, 4)


def test_a_training_without_a_label_is_called_by_its_seeds(kit: Any) -> None:
    seeds = [
        {"initialisation_seed": 3, "data_order_seed": 7},
        {"data_order_seed": 7},
        {"initialisation_seed": 0},
        {},
    ]
    headers = [kit.header(str(number), **some) for number, some in enumerate(seeds)]
    kit.load(headers, [kit.row("a", 1.0, run=run) for run in range(4)])
    assert kit.all(
        "select label, initialisation_seed, data_order_seed from training_seed order "
        "by label"
    ) == [
        ("", None, None),
        ("data_order=7", None, 7),
        ("initialisation=0", 0, None),
        ("initialisation=3,data_order=7", 3, 7),
    ]
    assert kit.counts("run") == (4,)


def test_ids_are_counted_by_the_name_of_their_table(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    counted = {row[0] for row in kit.all("select table_name from id_counter")}
    assert (
        {"run", "prompt", "model", "benchmark"}
        <= counted
        <= set(tables.metadata.tables)
    )


def test_runs_of_one_invocation_form_a_group(kit: Any) -> None:
    headers = [kit.header("same", benchmark=name) for name in "pqr"]
    kit.load(headers, [kit.row("a", 1.0, run=run) for run in range(3)])
    kit.load(
        [kit.header(None, benchmark=name) for name in "st"],
        [kit.row("a", 1.0, run=run) for run in range(2)],
    )
    assert kit.all("select count(*) from run group by run_group_id order by 1") == [
        (2,),
        (3,),
    ]


# --- the tree of benchmarks ------------------------------------------------------------------


def parents(kit: Any) -> dict[str, Any]:
    return dict(
        kit.all(
            "select child.name, parent.name from benchmark child "
            "left join benchmark parent on parent.id = child.parent_id"
        )
    )


def test_the_tree_grows_and_keeps_what_it_knows(kit: Any) -> None:
    kit.load(kit.header(benchmark="leaf"), kit.rows({"a": 1.0}))
    kit.load(
        kit.header(suite=("top", "middle"), benchmark="leaf"), kit.rows({"a": 1.0})
    )
    kit.load(
        kit.header("2", suite=("elsewhere",), benchmark="leaf"), kit.rows({"a": 0.0})
    )
    kit.load(kit.header("3", suite=("leaf",), benchmark="top"), kit.rows({"a": 0.0}))
    kit.load(kit.header("4", suite=("own",), benchmark="own"), kit.rows({"a": 0.0}))
    assert parents(kit) == {
        "leaf": "middle",
        "middle": "top",
        "top": None,
        "elsewhere": None,
        "own": None,
    }
    assert check(kit.store).ok


def test_the_fingerprint_follows_the_set_of_prompts(kit: Any) -> None:
    def fingerprint(name: str) -> str:
        text: str = kit.one("select fingerprint from benchmark where name = :n", n=name)
        return text

    kit.load(kit.header(benchmark="one"), kit.rows({"a": 1.0, "b": 1.0}))
    before = fingerprint("one")
    kit.load(kit.header(benchmark="two"), kit.rows({"b": 0.0}))
    kit.load(kit.header("2", benchmark="two"), kit.rows({"a": 0.0}))
    assert fingerprint("two") == before
    kit.load(kit.header("2", benchmark="one"), kit.rows({"c": 0.0}))
    assert fingerprint("one") != before


# --- metrics ---------------------------------------------------------------------------------


def listed(kit: Any) -> dict[str, Any]:
    rows = kit.all(
        "select name, kind, low, high, is_default from benchmark_metric as described "
        "join metric on metric.id = described.metric_id join headline_metric "
        "on headline_metric.benchmark_id = described.benchmark_id "
        "and headline_metric.metric_id = described.metric_id"
    )
    return {row[0]: row[1:] for row in rows}


def test_kinds_are_inferred_and_widened(kit: Any) -> None:
    kit.load(kit.header("1"), [kit.row("a", 1.0), kit.row("a", 0.5, metric="f1")])
    assert listed(kit) == {
        "acc": ("binary", 0, 1, True),
        "f1": ("bounded", 0, 1, False),
    }
    kit.load(kit.header("2"), [kit.row("a", 0.5), kit.row("a", 37.0, metric="f1")])
    kit.load(kit.header("3"), [kit.row("a", 0.0), kit.row("a", 0.0, metric="f1")])
    assert listed(kit) == {
        "acc": ("bounded", 0, 1, True),
        "f1": ("continuous", None, None, False),
    }


def test_a_declared_range_holds_against_an_inferred_one(kit: Any) -> None:
    def bleu(high: float) -> Any:
        return kit.spec("acc", kind="bounded", low=0.0, high=high)

    kit.load(kit.header("1", metrics=(bleu(100.0),)), [kit.row("a", 37.0)])
    kit.load(kit.header("2"), [kit.row("a", 42.0)])
    assert listed(kit) == {"acc": ("bounded", 0, 100, True)}
    kit.load(kit.header("3", metrics=(bleu(120.0),)), [kit.row("a", 1.0)])
    assert listed(kit) == {"acc": ("bounded", 0, 120, True)}
    kit.load(kit.header("4"), [kit.row("a", -3.0)])
    assert listed(kit) == {"acc": ("continuous", None, None, True)}


def test_what_the_dump_says_of_a_metric_counts(kit: Any) -> None:
    bleu = kit.spec("bleu", kind="bounded", low=0.0, high=100.0, higher_is_better=True)
    wer = kit.spec(
        "wer", higher_is_better=False, is_default=True, unit="words", link="none"
    )
    kit.load(
        kit.header(metrics=(bleu, wer)),
        [
            kit.row(
                "a",
                1.0,
                scores=[
                    {"metric": "bleu", "value": 37.0},
                    {"metric": "wer", "value": 1},
                ],
            )
        ],
    )
    assert listed(kit) == {
        "bleu": ("bounded", 0, 100, False),
        "wer": ("binary", 0, 1, True),
    }
    assert kit.all("select name, unit, link from metric order by 1") == [
        ("bleu", "", "identity"),
        ("wer", "words", "none"),
    ]


@pytest.mark.parametrize(
    ("metrics", "default"),
    [(["zeta", "exact_match", "acc"], "acc"), (["zeta", "alpha"], "acc")],
    ids=["most runs", "by name"],
)
def test_a_benchmark_has_one_default_metric(
    kit: Any, metrics: Any, default: str
) -> None:
    scores = [{"metric": name, "value": 1.0} for name in metrics]
    kit.load(
        kit.header(metrics=[kit.spec(name) for name in metrics]),
        [kit.row("a", scores=scores)],
    )
    kit.load(kit.header("2"), [kit.row("a", 0.0)])
    chosen = [name for name, row in listed(kit).items() if row[3]]
    assert chosen == [default]


def test_judges_and_filters_make_metrics_of_their_own(kit: Any) -> None:
    judges = [
        kit.spec(
            "acc",
            scorer="judge",
            scorer_kind="model",
            judge_model=name,
            scorer_parameters={"t": 0},
        )
        for name in ("org/j1", "org/j2")
    ]
    for number, spec in enumerate(judges):
        kit.load(kit.header(str(number), metrics=(spec,)), [kit.row("a", 1.0)])
    kit.load(
        kit.header("f"),
        [kit.row("a", scores=[{"metric": "acc", "filter": "x", "value": 1}])],
    )
    assert kit.counts("scorer", "metric") == (3, 3)
    assert kit.one("select count(distinct condition_key) from run") == 3


# --- published figures -----------------------------------------------------------------------


def test_published_figures_of_runs_and_groups(kit: Any) -> None:
    own = (
        kit.figure("acc", 0.5, standard_error=0.1, n=2),
        kit.figure("acc", None, statistic="best", raw="N/A", perturbation="typos"),
        kit.figure("acc", float("nan"), statistic="worst", standard_error=float("inf")),
    )
    group = (kit.figure("acc", 0.6, benchmark="suite", n=9),)
    header = kit.header(suite=("suite",), published=own)
    kit.load(header, kit.rows({"a": 1.0, "b": 0.0}), dump={"published": group})
    kit.load(header, kit.rows({"a": 1.0, "b": 0.0}), dump={"published": group})
    assert kit.all(
        "select benchmark.name, run_id, source_id, statistic, perturbation, value, "
        "standard_error,"
        " n, raw from published_score join benchmark on benchmark.id = benchmark_id "
        "order by 4, 1"
    ) == [
        ("quiz", 1, 1, "best", "typos", None, None, None, "N/A"),
        ("quiz", 1, 1, "mean", "", 0.5, 0.1, 2, None),
        ("suite", None, 1, "mean", "", 0.6, None, 9, None),
        ("quiz", 1, 1, "worst", "", None, None, None, "nan"),
    ]
    assert kit.counts("metric") == (1,)
    assert check(kit.store).ok


def test_a_published_figure_too_small_to_calculate_with_is_0_and_is_kept_as_published(
    kit: Any,
) -> None:
    figures = [1e-200, -1e-200, 2e-140, 1e200]
    headers = [
        kit.header(str(n), published=(kit.figure("acc", value),))
        for n, value in enumerate(figures)
    ]
    kit.load(headers)
    stored = kit.all("select value, raw from published_score order by run_id")
    assert stored == [
        (0.0, "1e-200"),
        (0.0, "-1e-200"),
        (2e-140, None),
        (None, "1e+200"),
    ]


def test_figures_without_samples_are_runs_of_their_own(kit: Any) -> None:
    """Training curves: aggregates only."""
    headers = [
        kit.header(None, step=step, published=(kit.figure("acc", step / 1000),))
        for step in (100, 200)
    ]
    assert kit.load(headers).n_runs == 2
    assert kit.load(headers).n_seen_again == 2
    assert kit.all(
        "select position, estimate, origin from run_score join run_current "
        "on run_current.run_id = run_score.run_id order by 1"
    ) == [(100.0, 0.1, "published"), (200.0, 0.2, "published")]


# --- clusters --------------------------------------------------------------------------------


def documents(kit: Any, topics: dict[str, Any], **fields: Any) -> list[Any]:
    return [
        kit.row(
            prompt,
            1.0,
            metadata=json.dumps({"topic": topic, "doc": {"id": topic}}),
            **fields,
        )
        for prompt, topic in topics.items()
    ]


def members(kit: Any, name: str) -> dict[str, str]:
    return dict(
        kit.all(
            "select prompt.key, cluster.label from prompt_cluster "
            "join cluster on cluster.id = cluster_id join prompt on prompt.id = "
            "prompt_id "
            "join clustering on clustering.id = prompt_cluster.clustering_id "
            "where clustering.name = :name",
            name=name,
        )
    )


def test_clusters_by_field_are_kept_complete(kit: Any) -> None:
    kit.load(kit.header("1"), documents(kit, {"a": "x", "b": "x", "c": 3}))
    assert field_clusters.cluster_by(kit.store, "quiz", ["topic"], default=True) == (
        "topic",
        2,
        3,
    )
    kit.load(kit.header("2"), documents(kit, {"a": "x", "d": "y", "e": "x", "f": None}))
    kit.load(kit.header("3", benchmark="other"), documents(kit, {"a": "x"}))
    expected = {"a": "x", "b": "x", "c": "3", "d": "y", "e": "x"}
    assert members(kit, "topic") == expected
    assert field_clusters.cluster_by(kit.store, "quiz", ["doc.id"]) == ("doc.id", 3, 5)
    assert members(kit, "doc.id") == expected
    assert kit.all(
        "select clustering.name from benchmark join clustering on clustering.id = "
        "default_clustering_id"
    ) == [("topic",)]
    assert check(kit.store).ok


def test_a_prompt_joins_its_cluster_when_its_document_comes_later(kit: Any) -> None:
    """Also where the same source fills another prompt with something else."""
    kit.load(
        kit.header("1"),
        [*documents(kit, {"a": "x"}), kit.row("b", 1.0), kit.row("c", 1.0)],
    )
    field_clusters.cluster_by(kit.store, "quiz", ["topic"])
    assert members(kit, "topic") == {"a": "x"}
    kit.load(
        kit.header("2"),
        [*documents(kit, {"a": "x", "b": "x"}), kit.row("c", 0.0, target="1")],
    )
    assert members(kit, "topic") == {"a": "x", "b": "x"}
    assert check(kit.store).ok


def test_several_fields_form_one_clustering(kit: Any) -> None:
    kit.load(
        kit.header(), documents(kit, {"a": "x", "b": "x"}) + documents(kit, {"c": "y"})
    )
    assert field_clusters.cluster_by(kit.store, "quiz", ["topic", "doc.id"]) == (
        "topic,doc.id",
        2,
        3,
    )
    assert field_clusters.cluster_by(kit.store, "quiz", ["topic", "doc.id"]) == (
        "topic,doc.id",
        2,
        3,
    )
    assert kit.counts("clustering", "cluster", "prompt_cluster") == (1, 2, 3)


def test_a_field_that_no_prompt_has_is_refused_with_those_there_are(kit: Any) -> None:
    kit.load(kit.header(), documents(kit, {"a": "x"}))
    with pytest.raises(MisuseError, match=r"'quiz' has the field tpic.*doc, topic"):
        field_clusters.cluster_by(kit.store, "quiz", ["tpic"])
    with pytest.raises(MisuseError, match="no benchmark 'quizz'"):
        field_clusters.cluster_by(kit.store, "quizz", ["topic"])
    assert kit.counts("clustering", "prompt_cluster") == (0, 0)
