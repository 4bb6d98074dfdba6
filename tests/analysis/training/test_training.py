"""Seeds and decisions from a store: figures of tables that are ingested as a user
would."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.support.cli import Caller
from tests.support.stores import store_at
from tests.support.tabular import ROOT
from warehouse.analysis.curves.answer import curves
from warehouse.analysis.decide.answer import decide
from warehouse.analysis.seeds.answer import seeds
from warehouse.analysis.seeds.question import Seeds
from warehouse.errors import MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.stats.training.signal_to_noise import compare_seed_ratios
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.testing.same_rows import difference_from_sql

N = 200
STEPS = range(100, 2100, 100)


def write(folder: Path) -> Path:
    """mix-a and mix-b with four seeds of twenty checkpoints, mix-c with one seed,
    ``lone`` with one run."""
    dice = np.random.default_rng(3)
    lines = ["model,recipe,benchmark,seed,step,prompt_id,score"]
    for recipe, base, labels in (
        ("a", 0.70, "1234"),
        ("b", 0.50, "1234"),
        ("c", 0.62, "1"),
    ):
        for label in labels:
            level = base + dice.normal(0, 0.02)
            for step in STEPS:
                right = round(
                    N
                    * min(
                        max(
                            level * (1 - math.exp(-step / 400)) + dice.normal(0, 0.01),
                            0,
                        ),
                        1,
                    )
                )
                lines += [
                    f"org/mix-{recipe},{recipe},quiz,{label},{step},p{n},{int(n < right)}"
                    for n in range(N)
                ]
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")
    (folder / "lone.csv").write_text(
        "model,benchmark,prompt_id,score\n"
        + "".join(f"org/lone,other,p{n},{n % 2}\n" for n in range(9))
    )
    return folder


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write(tmp_path_factory.mktemp("training"))
    found = store_at(folder / "store.duckdb")
    with open_store(found, write=True) as store:
        assert not ingest(store, [folder]).refused
    return found


def finals(store: Store, recipe: str, last: int = 1) -> np.ndarray:
    rows = store.arrow(
        "select training_seed, position, estimate from run_score s join run_current r "
        "on r.run_id = s.run_id"
        f" where r.model = 'org/mix-{recipe}' order by 1, 2"
    ).to_pylist()
    labels = sorted({row["training_seed"] for row in rows})
    return np.array(
        [
            np.mean(
                [row["estimate"] for row in rows if row["training_seed"] == s][-last:]
            )
            for s in labels
        ]
    )


#: Seeds of each recipe at their last checkpoint.
IN_SQL = """
select
  recipe, n_seeds, n_positions as n_checkpoints, seed_mean, seed_std as seed_sd,
  seed_std_averaged as seed_sd_averaged, mean_half_width as half_width, sd_ratio
from seed_summary
where is_last_position and (n_seeds > 1 or n_positions > 1)
"""


def test_views_have_the_figures_of_seeds(world: Store) -> None:
    question = Seeds()
    assert difference_from_sql(world, question, question.ask(world), IN_SQL) == ""
    several = world.rows(
        "select * from seed_summary where is_last_position and n_seeds > 1"
    )
    assert {row["recipe"] for row in several} == {"a", "b"}
    for row in several:
        assert row["seed_error"] == pytest.approx(
            row["seed_std"] / math.sqrt(row["n_seeds"]), rel=1e-9
        )


@pytest.mark.parametrize("averaged", [1, 4])
def test_seeds_of_a_recipe(world: Store, averaged: int) -> None:
    found = seeds(world, averaged=averaged)
    row = next(row for row in found.rows if row.recipe == "a")
    x = finals(world, "a", averaged)
    assert (row.n_seeds, row.n_checkpoints, row.seeds) == (
        4,
        len(STEPS),
        ("1", "2", "3", "4"),
    )
    assert row.seed_mean == pytest.approx(x.mean())
    assert row.seed_sd == pytest.approx(x.std(ddof=1))
    assert row.noise_floor == pytest.approx(
        stats.t.ppf(0.975, 3) * math.sqrt(2) * x.std(ddof=1)
    )
    assert (
        row.tau is not None
        and row.tau > 0.5
        and row.p_monotone is not None
        and row.p_monotone < 0.05
    )
    assert row.half_width is not None and row.sd_ratio == pytest.approx(
        row.seed_sd / row.half_width
    )
    assert found.left_out == 1  # the lone run
    assert "few_seeds" in row.flags and not any(
        "few_seeds" in one.flags for one in found.rows if one.n_seeds == 1
    )


def test_one_seed_gives_a_lower_bound_only(world: Store) -> None:
    row = next(row for row in seeds(world, ["quiz"]).rows if row.recipe == "c")
    assert (
        row.noise_floor is None
        and row.seed_sd is None
        and row.reason == "one training seed"
    )
    assert (
        row.jitter is not None
        and row.jitter_lower_bound is not None
        and row.jitter_lower_bound > row.jitter
    )


def test_conditions_on_the_runs(world: Store) -> None:
    (row,) = seeds(world, ["quiz"], where=["model=org/mix-a", "training_seed!=4"]).rows
    assert row.seeds == ("1", "2", "3")


def test_signal_to_noise_by_a_second_metric(tmp_path: Path) -> None:
    dice = np.random.default_rng(8)
    seeds_of = {"acc": dice.normal(0.5, 0.05, 6), "mass": dice.normal(0.4, 0.01, 6)}
    lines = [
        f"m,{s},{metric},{float(x[s])!r}"
        for metric, x in seeds_of.items()
        for s in range(6)
    ]
    (tmp_path / "f.csv").write_text(
        "model,seed,metric,value\n" + "\n".join(lines) + "\n"
    )
    (tmp_path / "map.toml").write_text(
        'files = ["f.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'training_seed = "seed"\n'
        'benchmark = { const = "quiz" }\n'
        "[[published]]\n"
        'metric = { path = "metric" }\n'
        'value = "value"\n'
        "[metrics.acc]\n"
        'kind = "continuous"\n'
        "is_default = true\n"
        "[metrics.mass]\n"
        'kind = "continuous"\n'
    )
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        assert not ingest(
            store, [tmp_path / "f.csv"], mapping=tmp_path / "map.toml"
        ).refused
        (row,) = seeds(store, against="mass").rows
        with pytest.raises(MisuseError, match="no figure by 'nothing'"):
            seeds(store, against="nothing")
        scores = seeds(store, against="mass").scores
        assert [(one.metric, one.score) for one in scores] == [
            (name, x) for name, xs in seeds_of.items() for x in xs
        ]
        assert seeds(store).rows[0].ratio is None
    own, other = (x.mean() / x.std(ddof=1) for x in seeds_of.values())
    assert (row.signal_to_noise, row.other_signal_to_noise) == (
        pytest.approx(own),
        pytest.approx(other),
    )
    oracle = compare_seed_ratios(seeds_of["mass"], seeds_of["acc"])
    assert (row.ratio, row.ratio_low) == (
        pytest.approx(other / own),
        pytest.approx(oracle.ci_low),
    )
    assert (row.other_metric, row.tau) == ("mass", None)


def test_the_picture_has_a_box_for_each_checkpoint(
    world: Store, url: str, run: Caller, tmp_path: Path
) -> None:
    """Quartiles are those of numpy."""
    charts = [one for one in seeds(world, ["quiz"]).charts() if one]
    assert [one.title for one in charts] == [
        f"score: quiz, org/mix-{mix}, 4 seeds" for mix in "ab"
    ]
    drawn = charts[0].spec["layer"][0]
    assert drawn["mark"]["type"] == "boxplot" and len(
        drawn["data"]["values"]
    ) == 4 * len(STEPS)
    assert not run(
        "training", "seeds", "quiz", "--svg", str(tmp_path / "seeds.svg"), db=url
    ).code
    assert (tmp_path / "seeds.svg").read_text().startswith("<svg")
    assert not run(
        "training", "curves", "quiz", "--svg", str(tmp_path / "curves.svg"), db=url
    ).code


def test_a_suite_stands_for_its_benchmarks(tmp_path: Path) -> None:
    places = (("a", 0), ("a", 2), ("b.c", 0), ("d", 0))
    lines = [
        f"m,{name},{shots},{seed},p{p},{int((p + seed) % (2 + len(name)) > 0)}"
        for name, shots in places
        for seed in (1, 2)
        for p in range(9)
    ]
    (tmp_path / "f.csv").write_text(
        "model,part,shots,seed,prompt_id,score\n" + "\n".join(lines) + "\n"
    )
    (tmp_path / "map.toml").write_text(
        'files = ["f.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'training_seed = "seed"\n'
        'benchmark = "part"\n'
        'fewshot = "shots"\n'
        'suite = { const = "exam" }\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "acc"\n'
        'value = "score"\n'
        "[metrics.acc]\n"
        'kind = "binary"\n'
        "higher_is_better = true\n"
    )
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        assert not ingest(
            store, [tmp_path / "f.csv"], mapping=tmp_path / "map.toml"
        ).refused
        everything = seeds(store).rows
        assert len(everything) == 4 and seeds(store, ["exam"]).rows == everything
        assert [row.benchmark for row in seeds(store, ["*b.c", "d", "d"]).rows] == [
            "b.c",
            "d",
        ]
        assert sorted(row.setting for row in everything) == [
            "",
            "",
            "fewshot=0",
            "fewshot=2",
        ]
        with pytest.raises(MisuseError, match="exan"):
            seeds(store, ["exan"])


def of_dump(folder: Path, dumps: list[Path], mapping: str | None) -> str:
    found = store_at(folder / "store.duckdb")
    with open_store(found, write=True) as store:
        name = (
            None if mapping is None else ROOT / "docs" / "mappings" / f"{mapping}.toml"
        )
        assert not ingest(store, dumps, mapping=name).refused
    return found


@pytest.mark.rare
def test_a_hundred_seeds_of_hans(data_dir: Path, tmp_path: Path) -> None:
    with open_store(
        of_dump(tmp_path, [data_dir / "hans_bert_100_seeds"], "hans_accuracies")
    ) as store:
        rows = {row.benchmark: row for row in seeds(store).rows}
    assert len(rows) == 38 and {row.n_seeds for row in rows.values()} == {100}
    assert not any("few_seeds" in row.flags for row in rows.values())
    mnli = next(row for name, row in rows.items() if name.startswith("MNLI"))
    lexical = next(row for name, row in rows.items() if name == "Lexical (nonent)")
    assert mnli.seed_mean == pytest.approx(0.843393, abs=5e-7)
    assert lexical.seed_mean == pytest.approx(0.276572, abs=5e-7)
    assert rows["Overall accuracy"].seed_mean == pytest.approx(0.566845, abs=5e-7)
    assert (
        lexical.seed_sd is not None
        and lexical.noise_floor is not None
        and lexical.seed_sd > 20 * mnli.seed_sd
    )
    assert lexical.noise_floor == pytest.approx(
        stats.t.ppf(0.975, 99) * math.sqrt(2) * lexical.seed_sd
    )


def test_ten_seeds_of_pythia(data_dir: Path, tmp_path: Path) -> None:
    with open_store(
        of_dump(tmp_path, [data_dir / "pythia" / "polypythias"], "pythia_training_maps")
    ) as store:
        (row,) = seeds(store).rows
    assert (row.n_seeds, row.n_checkpoints) == (10, 27)
    assert (
        row.noise_floor is not None
        and row.seed_variance is not None
        and row.signal_to_noise_low is not None
    )


@pytest.mark.rare
def test_checkpoints_of_pythia(data_dir: Path, tmp_path: Path) -> None:
    figures = {"70m": 0.18455268775470599, "12b": 0.7046380749078207}
    dumps = [
        data_dir / "pythia" / "evals" / "pythia-v1" / f"pythia-{size}"
        for size in figures
    ]
    with open_store(of_dump(tmp_path, dumps, None)) as store:
        rows = {
            row.model.rpartition("-")[2]: row
            for row in seeds(store, ["lambada_openai"], metric="acc").rows
        }
        ppl = {
            row.model.rpartition("-")[2]: row
            for row in seeds(store, ["lambada_openai"], metric="ppl").rows
        }
    assert {size: rows[size].seed_mean for size in figures} == figures
    assert (
        ppl["12b"].seed_mean == 3.9236415916124625
        and ppl["12b"].tau is not None
        and ppl["12b"].tau > 0.5
    )
    assert rows["12b"].n_checkpoints == 27 and rows["12b"].reason == "one training seed"


def test_what_cannot_be_answered(world: Store) -> None:
    with pytest.raises(MisuseError, match="two training seeds or two checkpoints"):
        seeds(world, ["other"])
    with pytest.raises(MisuseError, match="did you mean"):
        seeds(world, ["quizz"])
    assert "cannot be averaged" in seeds(world, ["quiz"], averaged=50).rows[0].reason


def test_a_real_difference_and_the_same_recipe(world: Store) -> None:
    (row,) = decide(world, "mix-a", "mix-b").rows
    a, b = finals(world, "a"), finals(world, "b")
    oracle = stats.ttest_ind(a, b).confidence_interval()
    assert row.difference == pytest.approx(a.mean() - b.mean())
    assert row.noise_floor == pytest.approx((oracle.high - oracle.low) / 2)
    assert (row.verdict, row.better, row.floor_from) == ("decides", "a", "seeds")
    (half,) = decide(world, "mix-a", "mix-b", where=["training_seed=1"]).rows
    assert (half.n_seeds_a, half.floor_from, half.degrees_of_freedom) == (
        1,
        "other_recipes",
        6.0,
    )


def test_one_seed_against_recipes_with_seeds(world: Store) -> None:
    (row,) = decide(world, "mix-c@step=2000", "mix-a@step=2000").rows
    assert row.floor_from == "seeds" and (row.n_seeds_a, row.n_seeds_b) == (1, 4)
    error = row.noise_floor / stats.t.ppf(0.975, 3)
    assert row.p_wrong_sign == pytest.approx(
        stats.t.cdf(-abs(row.difference) / error, 3)
    )
    assert (row.verdict == "decides") == (abs(row.difference) > row.noise_floor)


def test_figures_on_fewer_prompts_are_named(tmp_path: Path, run: Caller) -> None:
    """One seed of one recipe lacks the harder half of its prompts at the last step."""
    lines = [
        f"org/{name},{name},quiz,{seed},{step},p{n},{'' if lacks and n >= 20 else int(n * 7 % 40 < 15 + step + seed)}"
        for name in "xy"
        for seed in (1, 2)
        for step in (1, 2, 3)
        for lacks in [(name, seed, step) == ("x", 2, 3)]
        for n in range(40)
    ]
    (tmp_path / "scores.csv").write_text(
        "\n".join(["model,recipe,benchmark,seed,step,prompt_id,score", *lines]) + "\n"
    )
    url, flag = store_at(tmp_path / "store.duckdb"), "unequal_prompts"
    with open_store(url, write=True) as store:
        assert not ingest(store, [tmp_path]).refused
        assert [flag in row.flags for row in seeds(store, ["quiz"]).rows] == [
            True,
            False,
        ]
        assert [row.flags for row in curves(store, "quiz").rows] == [(flag,), ()]
        (row,) = decide(store, "org/x", "org/y").rows
        assert (
            row.flags == (flag,)
            and ", if the prompts that some lack are as hard as the others"
            in row.sentence
        )
        assert [
            row.flags for row in decide(store, "org/x@step=2", "org/y@step=2").rows
        ] == [()]
    for command in (
        (
            "training",
            "seeds",
        ),
        ("training", "curves", "quiz"),
        ("training", "decide", "org/x", "org/y"),
    ):
        assert (
            f"note: {flag}: figures rest on fewer or other prompts than others"
            in run(*command, db=url).err
        )


def test_figures_on_other_prompts_are_named(tmp_path: Path, run: Caller) -> None:
    """As many prompts, but two seeds have the easy ones and two the hard ones: .29 was
    the sd over seeds."""
    lines = [
        f"org/{name},{name},quiz,{seed},p{n},{int(n < 50)}"
        for name in "xy"
        for seed in (1, 2, 3, 4)
        for n in range(100)
        if (name == "y" and n % 2) or (name == "x" and (n < 50) == (seed < 3))
    ]
    (tmp_path / "scores.csv").write_text(
        "\n".join(["model,recipe,benchmark,seed,prompt_id,score", *lines]) + "\n"
    )
    url, flag = store_at(tmp_path / "store.duckdb"), "unequal_prompts"
    with open_store(url, write=True) as store:
        assert not ingest(store, [tmp_path]).refused
        found = {
            row.recipe: (row.seed_sd, flag in row.flags)
            for row in seeds(store, ["quiz"]).rows
        }
        assert found == {"x": (pytest.approx(3**-0.5), True), "y": (0.0, False)}
        assert flag in decide(store, "org/x", "org/y").rows[0].flags
    assert f"note: {flag}: " in run("training", "seeds", db=url).err


def test_the_commands(run: Caller, url: str) -> None:
    shown = run("training", "seeds", db=url)
    assert "says nothing below" in shown.out and "left out" in shown.err
    assert "seeds of a recipe are few: one that fails in ten" in shown.out
    explained = run("--explain", "training", "seeds", db=url).out
    assert "noise floor" in explained and "if no seed fails" in explained
    rows = run("training", "seeds", "quiz", "--average", "4", "--json", db=url).rows
    assert [row["recipe"] for row in rows] == ["a", "b", "c"] and rows[0][
        "averaged"
    ] == 4
    said = run("--explain", "training", "decide", "mix-a", "mix-b", db=url)
    assert "quiz decides: a is ahead of b by" in " ".join(said.out.split())
    run("training", "decide", "mix-a", "nothing", db=url).fails(2, "nothing")
    run("training", "seeds", "other", db=url).fails(2, "two training seeds")
    short = run("training", "seeds", "quiz", "--average", "99", db=url)
    assert (
        "No recipe has a second" not in short.out
        and "cannot be averaged over 99" in short.err
    )
    for command in ("seeds", "recipes", "curves"):
        run("training", command, "quiz", "--metric", "nope", db=url).fails(
            2, "no figure by 'nope'"
        )


def test_another_headline_hides_no_training_without_a_word(
    tmp_path: Path, run: Caller
) -> None:
    """Later runs by another metric take the headline; what is trained is named with its
    own metric."""
    lines = ["model,recipe,benchmark,step,prompt_id,metric,score"]
    lines += [
        f"org/{m},{m},quiz,{step},p{n},acc,{n % 2}"
        for m in "ab"
        for step in (1, 2)
        for n in range(4)
    ]
    (tmp_path / "trained.csv").write_text("\n".join(lines) + "\n")
    lines = ["model,benchmark,prompt_id,metric,score"]
    lines += [f"org/{m},quiz,p{n},f1,{n % 2}" for m in "cdefgh" for n in range(4)]
    (tmp_path / "others.csv").write_text("\n".join(lines) + "\n")
    url = store_at(tmp_path / "store.duckdb")
    with open_store(url, write=True) as opened:
        assert not ingest(opened, [tmp_path / "trained.csv"]).refused
        assert [row.metric for row in seeds(opened).rows] == [
            "acc",
            "acc",
        ] and not seeds(opened).elsewhere
        assert not ingest(opened, [tmp_path / "others.csv"]).refused
        for call in (lambda: seeds(opened), lambda: curves(opened, "quiz")):
            with pytest.raises(
                MisuseError, match=r"two checkpoints.* quiz \(--metric acc\)"
            ):
                call()
    assert {
        row["model"]
        for row in run("training", "seeds", "--metric", "acc", "--json", db=url).rows
    } == {"org/a", "org/b"}
    (tmp_path / "third.csv").write_text(
        (tmp_path / "trained.csv").read_text().replace("quiz", "exam")
    )
    run("ingest", str(tmp_path / "third.csv"), db=url)
    assert (
        "note: seeds or checkpoints by another metric than the headline: quiz "
        "(--metric acc)" in run("training", "seeds", db=url).err
    )
