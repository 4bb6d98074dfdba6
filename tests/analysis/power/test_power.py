"""Planning from stored runs and from variances, through the library and the command
line."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tests.support.builders import Rate, StoreRows
from tests.support.cli import Caller
from tests.support.world import G6, build_world
from warehouse import connect
from warehouse.analysis.power.answer import (
    PowerQuestion,
    caution,
    given_parts,
    plan_flags,
    plan_power,
)
from warehouse.analysis.power.pilot import read_pilot
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import Cost, VarianceParts, paired_difference, plan_from_pilot
from warehouse.stats.power.designs import plan_table
from warehouse.stats.power.power import standard_error
from warehouse.store.connection import Store
from warehouse.store.open import open_store


def build_rows() -> StoreRows:
    rows = build_world()
    rows.describe("means", rows.metric("f1"), kind="bounded")
    for model, value in (("org/a", 0.3), ("org/b", 0.4)):
        run = rows.run(model, "means")
        stored = {f"p{i}": Rate(value + i / 50, 10) for i in range(12)}
        rows.scores(run, stored, rows.metric("f1"))
    for fact in rows.rows["prompt_score"][-24:]:  # a mean of ten without its variance
        fact["within_variance"] = None
    keys = [f"l{place}" for place in range(12)]
    rows.describe("linked", rows.metric())
    rows.clusters(
        "linked", {label: keys[start::4] for start, label in enumerate("wxyz")}
    )
    for model, step in (("org/a", 3), ("org/b", 5)):
        rows.scores(
            rows.run(model, "linked"),
            {key: float(place % step > 1) for place, key in enumerate(keys)},
        )
    for key in keys:  # to prompts of a benchmark that has no clusters
        ids = {
            "prompt_id": rows.prompt("linked", key),
            "canonical_prompt_id": rows.prompt("linked before", key),
        }
        rows.add("prompt_link", ("linked", key), **ids, method="same text")
    return rows


ROWS = build_rows()


def draws_of(model: str) -> list[list[float]]:
    """Headline draws on ``quiz`` by prompt, all repeats together, from the rows of
    ``score``."""
    checkpoints = {
        c["id"]
        for c in ROWS.rows["checkpoint"]
        if ROWS.rows["training_seed"][c["training_seed_id"] - 1]["model_id"]
        == ROWS.model(model)
    }
    runs = {
        r["id"]
        for r in ROWS.rows["run"]
        if r["checkpoint_id"] in checkpoints
        and r["benchmark_id"] == ROWS.benchmark("quiz")
    }
    pooled: dict[int, list[float]] = {}
    for fact in ROWS.rows["score"]:
        wanted = fact["run_id"] in runs and fact["metric_id"] == ROWS.metric()
        if wanted and fact["variant_id"] == ROWS.variant():
            pooled.setdefault(fact["prompt_id"], []).append(fact["value"])
    return [pooled[key] for key in sorted(pooled)]


def test_two_stored_runs_are_a_pilot_with_repeats_as_draws(world: Store) -> None:
    found = read_pilot(world, ["org/b", "org/c"], benchmark="quiz")
    b, c = draws_of("org/b"), draws_of("org/c")
    assert (len(b[0]), len(c[0])) == (6, 3)
    expected = plan_from_pilot(
        np.mean(b, axis=1),
        np.mean(c, axis=1),
        np.var(b, axis=1, ddof=1),
        np.var(c, axis=1, ddof=1),
        6,
        3,
    )
    for name in ("omega2_raw", "sigma2_a", "sigma2_b", "total", "mean_a"):
        assert getattr(found.pilot, name) == pytest.approx(
            getattr(expected, name), rel=1e-12
        )
    assert (found.models, found.benchmark) == (("org/b", "org/c"), "quiz")
    assert (found.metric, found.width) == ("acc", 1.0)


def test_linked_prompts_stand_in_the_clusters_that_compare_puts_them_in(
    world: Store,
) -> None:
    assert (
        read_pilot(world, ["org/a", "org/b"], benchmark="linked").pilot.n_clusters == 4
    )


def test_one_stored_run_stands_for_both(world: Store) -> None:
    found = read_pilot(world, ["org/a"], benchmark="draws", where=["temperature=1"])
    assert found.pilot.sigma2_a == pytest.approx(
        np.var(G6, axis=1, ddof=1).mean(), rel=1e-12
    )
    assert found.pilot.omega2 == pytest.approx(
        2 * 0.0520833333333, rel=1e-11
    )  # goldens.md G6
    plan = plan_power(PowerQuestion(delta=0.2), found)
    assert any("taken to vary as org/a does" in note for note in plan.notes)


def test_clusters_of_the_benchmark_count(world: Store) -> None:
    found = read_pilot(world, ["org/a"], benchmark="golden")
    assert (found.pilot.n_clusters, found.pilot.cluster_size) == (4, 2.5)
    # goldens.md G1: CR2 .220389266008 of ten prompts; two independent models alike
    assert found.pilot.total == pytest.approx(2 * 10 * 0.220389266008**2, rel=1e-10)
    plan = plan_power(PowerQuestion(delta=0.5), found)
    answer = plan.rows[0]
    assert answer.n_clusters == math.ceil(answer.n / 2.5)
    assert any("4 clusters" in note for note in plan.notes)
    alone = read_pilot(world, ["org/a"], benchmark="golden", cluster="none")
    assert (alone.pilot.n_clusters, alone.pilot.cluster_size) == (None, None)


def test_ratio_metrics_are_planned_on_the_scale_of_their_figure(world: Store) -> None:
    """A plan of the pilot's own size has the error that the comparison reports."""
    found = read_pilot(world, ["org/a", "org/b"], benchmark="words", cluster="none")
    metric, facts = ROWS.metric("word_perplexity", link="exp_neg"), []
    for model in ("org/a", "org/b"):
        own = [
            f
            for f in ROWS.rows["prompt_score"]
            if f["metric_id"] == metric and model_of(f["run_id"]) == model
        ]
        facts.append(sorted(own, key=lambda f: f["prompt_id"]))
    values, weights = (
        [[f[name] for f in one] for one in facts] for name in ("value", "weight")
    )
    expected = paired_difference(
        *values, weights_a=weights[0], weights_b=weights[1], link="exp_neg"
    )
    error = standard_error(30, found.pilot.parts)
    assert error == pytest.approx(
        expected.standard_error, rel=1e-3
    )  # both sides are centred anew
    assert found.width is None


def model_of(run_id: int) -> str:
    checkpoint = ROWS.rows["checkpoint"][
        ROWS.rows["run"][run_id - 1]["checkpoint_id"] - 1
    ]
    seed = ROWS.rows["training_seed"][checkpoint["training_seed_id"] - 1]
    return str(ROWS.rows["model"][seed["model_id"] - 1]["name"])


def test_without_a_question_the_pilots_own_size_is_asked_about(world: Store) -> None:
    found = read_pilot(world, ["org/b", "org/c"], benchmark="quiz")
    plan = plan_power(PowerQuestion(), found)
    assert (plan.goal, plan.rows[0].n, plan.rows[0].role) == ("mde", 40, "answer")
    assert {row.k_a for row in plan.rows} == {1, 2, 5, 10}


def test_means_whose_variance_is_not_stored_plan_no_fewer_draws(world: Store) -> None:
    found = read_pilot(world, ["org/a", "org/b"], benchmark="means")
    wanted = PowerQuestion(delta=0.05)
    with pytest.raises(
        StatisticsError, match="all variances are 0"
    ):  # they differ by a constant
        plan_power(wanted, found)
    one = read_pilot(world, ["org/a"], benchmark="means")
    plan = plan_power(wanted, one)
    assert {row.k_a for row in plan.rows} == {10}
    assert any("no known variance" in note for note in plan.notes)
    with pytest.raises(MisuseError, match="give --k 10 or more"):
        plan_power(PowerQuestion(delta=0.05, k=(1,)), one)


def test_the_designs_of_an_answer() -> None:
    parts = given_parts(1 / 9, 1 / 6)
    plan = plan_power(
        PowerQuestion(delta=0.1, available=150, budget=800.0, n_values=(50, 100)), parts
    )
    assert (plan.goal, plan.sigma2_b, plan.reachable) == ("n", 1 / 6, True)
    roles = [row.role for row in plan.rows]
    assert roles == ["answer", "cheapest", "budget", *["table"] * 8]
    answer, cheapest, budget = plan.rows[:3]
    assert answer.power is not None and answer.power >= 0.8
    assert cheapest.n <= 150 and cheapest.power is not None and cheapest.power >= 0.8
    assert budget.generations <= 800
    assert plan.answer.startswith("A difference of 0.1 is found with power 0.8")
    assert plan.one_line == plan.answer
    assert list(plan.to_frame()["role"]) == roles
    priced = plan_power(PowerQuestion(delta=0.1, cost=Cost(8.0, 1.0)), parts)
    assert priced.rows[1].cost == priced.rows[1].n * (8 + 2 * priced.rows[1].k_a)


def test_more_than_there_is_is_told(world: Store) -> None:
    plan = plan_power(PowerQuestion(delta=0.01, available=100), VarianceParts(0.1))
    assert not plan.reachable
    assert any("even with unlimited draws" in note for note in plan.notes)


BAD = [
    (PowerQuestion(delta=0.1, n=10, power=0.9), MisuseError, "all given"),
    (PowerQuestion(), MisuseError, "give a difference, delta"),
    (PowerQuestion(delta=-0.1), StatisticsError, "`delta`"),
    (PowerQuestion(delta=0.1, alpha=0.0), StatisticsError, "`alpha`"),
    (PowerQuestion(n=0), StatisticsError, "`n`"),
    (PowerQuestion(delta=0.1, k=(0,)), StatisticsError, "`k_a`"),
    (PowerQuestion(delta=0.1, k_b=0), StatisticsError, "`k_b`"),
    (PowerQuestion(delta=0.1, budget=-5), StatisticsError, "`budget`"),
    (PowerQuestion(delta=0.1, available=0), StatisticsError, "`available`"),
]


@pytest.mark.parametrize(("question", "kind", "message"), BAD)
def test_absurd_questions_are_refused(
    question: PowerQuestion, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        plan_power(question, VarianceParts(0.1))


@pytest.mark.parametrize(
    ("references", "options", "message"),
    [
        (["org/b", "org/c"], {}, "several benchmarks or splits"),
        (["org/c", "item/model1"], {}, "no benchmark in common"),
        (["org/b", "org/b"], {"benchmark": "quiz"}, "the same run"),
        (["org/b"] * 3, {}, "one run or two, found 3"),
        (["org/a"], {"benchmark": "draws"}, "--where"),
        (["org/b", "org/c"], {"benchmark": "quiz", "correlation": 0.5}, "leave it out"),
        (["nobody"], {}, "no model with runs"),
    ],
)
def test_runs_that_cannot_be_a_pilot_are_refused(
    world: Store, references: list[str], options: dict[str, object], message: str
) -> None:
    with pytest.raises(MisuseError, match=message):
        read_pilot(world, references, **options)  # type: ignore[arg-type]


def test_a_difference_as_wide_as_the_metric_is_refused(world: Store) -> None:
    found = read_pilot(world, ["org/b", "org/c"], benchmark="quiz")
    with pytest.raises(MisuseError, match="as wide as the whole range of acc on quiz"):
        plan_power(PowerQuestion(delta=3.0), found)


# --- command line ----------------------------------------------------------------------------


def test_variances_need_no_store(run: Caller) -> None:
    found = run(
        "power",
        "--delta",
        "0.03",
        "--omega2",
        str(1 / 9),
        db="duckdb:////nowhere/x.duckdb",
    )
    assert found.code == 0, found.err
    assert "969                1           1,938" in found.out
    rows = run(
        "power",
        "--n",
        "198",
        "--omega2",
        str(1 / 9),
        "--sigma2-a",
        str(1 / 6),
        "--k",
        "10,1",
        "--json",
    ).rows
    assert rows[0]["mde"] == pytest.approx(0.0756696392668, rel=1e-11)
    assert [row["role"] for row in rows] == ["answer", *["table"] * 10]


def test_stored_runs_plan_from_the_command_line(run: Caller, url: str) -> None:
    words = (
        "power",
        "--from",
        "org/b",
        "org/c",
        "--benchmark",
        "quiz",
        "--delta",
        "0.1",
    )
    rows = run(*words, "--json", db=url).rows
    with open_store(url) as store:
        pilot = read_pilot(store, ["org/b", "org/c"], benchmark="quiz")
    assert rows == [
        row.to_dict() for row in plan_power(PowerQuestion(delta=0.1), pilot).rows
    ]
    shown = run(*words, db=url)
    assert shown.out.startswith("To find a difference of 10 points between org/b and")
    assert "as in your runs" in shown.out and "Your 40 questions × 6" in shown.out
    explained = run("--explain", *words, db=url).out
    assert explained.startswith("A difference of 0.1 is found with power 0.8")
    assert "planned with omega2 = " in explained
    assert "note: the pilot had 40 prompts" in shown.err
    header = run(*words, "--csv", db=url).out.splitlines()[0]
    assert header.split(",") == list(rows[0])


def test_python_has_the_same(url: str) -> None:
    warehouse = connect(url, create=False)
    plan = warehouse.power("org/b", "org/c", benchmark="quiz", delta=0.1)
    assert plan.goal == "n" and plan.pilot is not None
    given = warehouse.power(parts=VarianceParts(1 / 9), delta=0.03)
    assert given.rows[0].n == 969
    with pytest.raises(MisuseError, match="give one of them"):
        warehouse.power(delta=0.03)


def test_no_is_an_answer(run: Caller) -> None:
    found = run("power", "--delta", "0.03", "--omega2", "0.1", "--available", "100")
    assert found.code == 1
    assert "note: 100 prompts are not enough" in found.err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((), "--from A B"),
        (("--omega2", "-1", "--delta", "1"), "`omega2` is a variance"),
        (("--omega2", "1", "--delta", "1", "--icc", ".1"), "clusters need both"),
        (
            ("--omega2", "1", "--delta", "1", "--benchmark", "quiz"),
            "--benchmark goes with --from",
        ),
        (("--omega2", "1", "--from", "org/a"), "not both"),
        (("--omega2", "1", "--delta", "1", "--k", "1,x"), "is not a list"),
        (("--omega2", "1", "--delta", "1", "--k", "0"), "below 1"),
        (("--omega2", "1", "--delta", "1", "--cost-prompt", "-1"), "cost of a prompt"),
        (("--omega2", "1", "--n", "10", "--power", "1"), "`power`"),
    ],
)
def test_misuse_is_told(run: Caller, words: tuple[str, ...], part: str) -> None:
    run("power", *words).fails(2, part)


def test_a_pilot_whose_figure_overflows_is_refused(run: Caller, tmp_path: Path) -> None:
    table, mapping, store = (
        tmp_path / "t.csv",
        tmp_path / "m.toml",
        str(tmp_path / "s.duckdb"),
    )
    rows = [f"{model},b,{i},{-900.5 - i}" for model in ("x", "y") for i in range(9)]
    table.write_text("\n".join(["model,benchmark,prompt_id,score", *rows]))
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "score"\n'
        "[metrics.score]\n"
        'link = "exp_neg"\n'
        "higher_is_better = false\n"
    )
    assert run("ingest", str(table), "--map", str(mapping), db=store).code == 0
    for models in (["x", "y"], ["x"]):
        run(
            "power", "--from", *models, "--benchmark", "b", "--delta", "1", db=store
        ).fails(StatisticsError.exit_code, "link 'exp_neg' overflows")


def test_every_plan_says_what_it_rests_on(world: Store) -> None:
    pilot = read_pilot(world, ["org/a"], benchmark="golden")
    found = plan_power(PowerQuestion(delta=0.2, budget=300), pilot)
    assert found.pilot is not None and (found.pilot.n_clusters or 99) < 20
    assert all("few_clusters" in row.flags for row in found.rows)
    assert "rests on fewer than 20 clusters" in found.answer


def test_a_clipped_variance_is_said_beside_the_plan() -> None:
    plan = plan_table(VarianceParts(0.1, 0.1, 0.1), [100], [1])[0]
    pilot = SimpleNamespace(flags=("omega2_clipped",), n_clusters=None, skewness=None)
    flags = plan_flags(plan, pilot)  # type: ignore[arg-type]
    assert flags == ("omega2_clipped",)
    assert "omega2 came out below 0" in caution(flags)
    assert caution(plan_flags(plan, None)) == ""


def test_right_and_wrong_answers_differ_as_often_as_their_figures(
    tmp_path: Path,
) -> None:
    """Where a pilot's models hardly differ, its variance is too small for a difference
    that is planned for."""
    lost = {"ada": {1, 2}, "bob": {3, 4, 5, 6, 7}}
    lines = [
        f"{name},easy,q{i},{int(i not in gone)}"
        for name, gone in lost.items()
        for i in range(500)
    ]
    (tmp_path / "easy.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,score", *lines])
    )
    store = connect(f"duckdb:///{tmp_path / 'easy.duckdb'}")
    store.ingest(tmp_path / "easy.csv")
    plan = store.power("ada", "bob", delta=0.03)
    assert plan.omega2 == pytest.approx(0.03 - 0.03**2) and any(
        "differ on that share" in note for note in plan.notes
    )

    def power(n: int, share: float) -> float:
        """That the t test finds a model that wins nothing back, whose losses are
        binomial."""
        found = [
            k
            for k in range(1, 12)
            if stats.ttest_1samp(np.arange(n) < k, 0).pvalue <= 0.05
        ]
        return float(stats.binom.sf(found[0] - 1, n, share))

    n = plan.rows[0].n
    assert power(n, 0.03) >= 0.8 > 0.6 > power(math.ceil(n * 0.014 / 0.0291), 0.03)
    mde = store.power("ada", "bob").rows[0].mde
    assert power(500, mde) >= 0.8 and mde == pytest.approx(7.8489 / 507.8489, rel=1e-4)
