"""One scale over benchmarks and harnesses: figures of tables that are ingested as a
user would."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import warehouse
from tests.support.cli import Caller, on_a_terminal
from tests.support.stores import store_at
from warehouse.analysis.irt.answer import Irt
from warehouse.errors import MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.stats.items.abilities import abilities
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.responses import as_responses
from warehouse.store.open import open_store

MODELS, PROMPTS = 30, 40
FIELDS = (
    "model",
    "benchmark",
    "harness",
    "prompt_id",
    "draw",
    "template_hash",
    "question",
    "score",
)


def names() -> list[str]:
    """Three families of ten; abilities rise with the number."""
    return [f"{('ada', 'bob', 'cyd')[m % 3]}/m{m:02}" for m in range(MODELS)]


def rows_of(
    benchmark: str, models: Iterable[int], *, seed: int, draws: int = 1, **fields: Any
) -> list[dict[str, Any]]:
    """Answers of a 2PL; prompt 0 is right for all, and prompt 1 easier for the family
    ``ada``."""
    dice = np.random.default_rng(seed)
    theta, difficulty = np.linspace(-2, 2, MODELS), np.linspace(-1.5, 1.5, PROMPTS)
    found = []
    for m in models:
        for p in range(PROMPTS):
            easier = 4.0 * (p == 1 and m % 3 == 0)
            chance = (
                1.0
                if p == 0
                else 1 / (1 + np.exp(-1.5 * (theta[m] - difficulty[p]) - easier))
            )
            for draw in range(draws):
                found.append(
                    {
                        "model": names()[m],
                        "benchmark": benchmark,
                        "prompt_id": f"{benchmark}{p:02}",
                        "draw": draw,
                    }
                    | {
                        "question": f"{benchmark} what is {p}?",
                        "score": int(dice.random() < chance),
                    }
                    | fields
                )
    return found


def load(folder: Path, rows: Iterable[dict[str, Any]], url: str = "") -> str:
    """A store with these rows, added to what it holds; by default a file in the folder."""
    rows = list(rows)
    fields = [field for field in FIELDS if any(field in row for row in rows)]
    lines = [
        ",".join(fields),
        *(",".join(str(row.get(field, "")) for field in fields) for row in rows),
    ]
    path = folder / f"irt{len(list(folder.glob('*.csv')))}.csv"
    path.write_text("\n".join(lines) + "\n")
    url = url or store_at(folder / "irt.duckdb")
    with open_store(url, create=True) as store:
        assert not ingest(store, [path]).refused
    return url


def asked(url: str, *benchmarks: str, **options: Any) -> Irt:
    return warehouse.connect(url).irt(benchmarks, **options)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A benchmark for each question; none shares prompts with another."""
    folder = tmp_path_factory.mktemp("irt")
    one_block = rows_of("sums", range(22), seed=1) + rows_of(
        "words", range(8, 30), seed=2
    )
    apart = rows_of("low", range(15), seed=3) + rows_of("high", range(15, 30), seed=4)
    link = [
        row for row in rows_of("link", range(30), seed=5) if row["prompt_id"] < "link20"
    ]
    few = rows_of("left", range(6), seed=1) + rows_of("right", range(6, 12), seed=2)
    hub = (
        rows_of("hub", range(12), seed=3)
        + rows_of("own", [2], seed=2)
        + rows_of("far", [20], seed=2)
    )
    plain = rows_of("partial", range(8), seed=1)
    partial = [row | {"score": 0.2 + 0.6 * row["score"]} for row in plain]
    points = [
        row | {"benchmark": "points", "score": 100 * row["score"] + 7} for row in plain
    ]
    twice = rows_of("twice", range(4), seed=1) + rows_of(
        "twice", [1], seed=2, template_hash="b"
    )
    both = [
        row
        for h in ("one", "two")
        for row in rows_of("both", range(6), seed=len(h) + (h == "two"), harness=h)
    ]
    started = [
        row for row in rows_of("begun", [11], seed=4) if row["prompt_id"] < "begun10"
    ]
    begun = rows_of("begun", range(11), seed=1) + started
    odd = (
        partial
        + points
        + twice
        + both
        + begun
        + rows_of("drawn", range(8), seed=1, draws=3)
    )
    return load(folder, one_block + apart + link + few + hub + odd)


BLOCKS = ("low", "high", "link")


def test_prompts_of_two_benchmarks_on_one_scale(url: str) -> None:
    report = asked(url, "sums", "words").fit()
    assert (report.n_models, report.n_items, report.n_cells) == (
        MODELS,
        2 * PROMPTS,
        44 * PROMPTS,
    )
    assert (
        report.model == "2pl"
        and "20 models" in report.model_reason
        and len(report.blocks) == 1
    )
    constant = [row.constant for row in report.rows]
    assert constant == sorted(constant) and {"sums00", "words00"} <= {
        row.key for row in report.rows if row.constant
    }
    assert all(
        row.n_models == 22 and np.isfinite(row.difficulty) for row in report.rows
    )
    hard = {row.key: row.difficulty for row in report.rows if row.key[-2:] > "01"}
    assert (
        np.corrcoef([hard[key] for key in sorted(hard)], list(range(38)) * 2)[0, 1]
        > 0.8
    )
    assert (report.loss_2pl or 1) < (report.loss_items or 0)


def test_what_differs_between_families(url: str, tmp_path: Path, run: Caller) -> None:
    report = asked(url, "sums", "words").fit()
    assert {row.family for row in report.families} == {"ada", "bob", "cyd"}
    flagged = {row.key: row for row in report.rows if row.dif}
    assert {"sums01", "words01"} >= set(flagged) and flagged
    assert all(
        (row.dif_family == "ada") == ((row.dif_effect or 0) > 0)
        for row in flagged.values()
    )
    file = tmp_path / "families.csv"
    file.write_text(
        "model,family\n"
        + "".join(f"{name},{'x' if m % 2 else 'y'}\n" for m, name in enumerate(names()))
    )
    given = asked(url, "sums", "words").fit(
        family=dict(line.split(",") for line in file.read_text().split()[1:])
    )
    assert [row.family for row in given.families] == ["x"]
    assert (
        "models  others"
        in run("irt", "fit", "sums", "words", "--family", str(file), db=url).out
    )
    run("irt", "fit", "sums", "--family", "colour", db=url).fails(
        2, "no field 'colour'"
    )
    run("irt", "fit", "sums", "--family", "nowhere.csv", db=url).fails(
        3, "columns model and family"
    )
    with pytest.raises(MisuseError, match="name none of the 22 models"):
        asked(url, "sums").fit(family={"nobody": "x"})


def test_a_second_call_is_answered_from_the_store_until_its_inputs_change(
    tmp_path: Path, store_url: str
) -> None:
    load(tmp_path, rows_of("sums", range(10), seed=1), store_url)
    first = asked(store_url, "sums").fit()
    assert not any("read back" in note for note in first.notes)
    second = asked(store_url, "sums").fit()
    assert second.rows == first.rows and any(
        "read back" in note for note in second.notes
    )
    load(tmp_path, rows_of("sums", range(10, 12), seed=3), store_url)
    third = asked(store_url, "sums").fit()
    assert third.n_models == 12 and any("stale" in note for note in third.notes)
    assert any(
        "trial" in note
        for note in asked(store_url, "sums", store_result=False, fresh=True).fit().notes
    )
    assert asked(store_url, "sums").abilities(sensitivity=True).sensitivity


def test_answers_are_kept_under_the_settings_that_older_stores_have_them_under(
    tmp_path: Path,
) -> None:
    url = load(tmp_path, rows_of("sums", range(8), seed=1))
    asked(url, "sums", where=("model!=zed", "model!=ada/m99"), model="1PL").fit()
    with open_store(url) as store:
        (kept,) = store.rows("select parameters from analysis where kind = 'irt_fit'")
    settings = {
        "model": "1pl",
        "metric": None,
        "latest": False,
        "cluster": None,
        "family": None,
    }
    assert json.loads(kept["parameters"]) == settings | {
        "where": ["model!=ada/m99", "model!=zed"]
    }


def test_the_order_of_ingest_does_not_matter(tmp_path: Path) -> None:
    parts = [rows_of("sums", range(8), seed=1), rows_of("words", range(4, 12), seed=2)]
    found = []
    for order in (1, -1):
        folder = tmp_path / str(order)
        folder.mkdir()
        for rows in parts[::order]:
            last = load(folder, rows)
        found.append(asked(last, "words", "sums").abilities())
    assert (
        found[0].input_fingerprint == found[1].input_fingerprint
        and found[0].rows == found[1].rows
    )


def test_abilities_with_ranks_and_differences(url: str) -> None:
    report = asked(url, "sums", "words").abilities()
    ability = {row.model: row.ability for row in report.rows}
    assert (
        np.corrcoef([ability[name] for name in names()], np.linspace(-2, 2, MODELS))[
            0, 1
        ]
        > 0.9
    )
    first, *others = report.rows
    assert first.behind_leader is None and [row.rank for row in report.rows] == list(
        range(1, MODELS + 1)
    )
    for row in others:
        assert row.behind_leader == pytest.approx(first.ability - row.ability)
        assert (
            (row.behind_low or 0) < first.ability - row.ability < (row.behind_high or 9)
        )
        assert (
            row.rank_low is not None
            and row.rank_high is not None
            and row.rank_low <= row.rank <= row.rank_high
        )


def test_a_model_far_from_the_others_is_named(store_url: str) -> None:
    """Of a model four standard deviations above the others 95 % intervals of
    differences covered .65."""
    rng = np.random.default_rng(3)
    theta = np.append(np.linspace(-1.5, 1.5, 24), 5.0)
    right = rng.random((25, 40)) < 1 / (
        1 + np.exp(rng.normal(0, 1.2, 40) - theta[:, None])
    )
    rows = [
        (f"m{i}", "far", f"q{j}", int(right[i, j]))
        for i in range(25)
        for j in range(40)
    ]
    store = warehouse.connect(store_url)
    store.ingest(
        pd.DataFrame(rows, columns=["model", "benchmark", "prompt_id", "score"])
    )
    (note,) = [
        note for note in store.irt("far").abilities().notes if "understated" in note
    ]
    assert ": m24: how far" in note


def test_names_globs_and_lists(url: str) -> None:
    for given in ("sums,words", ["sums", "words"], ["words", "s*"]):
        assert warehouse.connect(url).irt(given).data.benchmarks == ("sums", "words")


def test_blocks_have_means_of_their_own_and_are_named(url: str, run: Caller) -> None:
    report = asked(url, *BLOCKS).abilities()
    assert report.model == "1pl" and "linked by 20 prompts" in report.model_reason
    assert [block.n_links for block in report.blocks] == [20, 20]
    low, high = sorted(block.prior_mean for block in report.blocks)
    assert high - low > 1 and {row.block for row in report.rows} == {1, 2}
    ability = {row.model: row.ability for row in report.rows}
    assert (
        np.corrcoef([ability[name] for name in names()], np.linspace(-2, 2, MODELS))[
            0, 1
        ]
        > 0.9
    )
    assert any("blocks of models" in note for note in report.notes)
    assert "that link each to the others" in run("irt", "ability", *BLOCKS, db=url).out


def test_the_scale_without_a_benchmark_or_family(url: str) -> None:
    found = {
        row.left_out: row
        for row in asked(url, "sums", "words").abilities(sensitivity=True).sensitivity
    }
    assert set(found) == {"sums", "words", "ada", "bob", "cyd"}
    assert found["sums"].n_models == 22 and found["ada"].n_models == 20
    assert all(
        row.tau is not None and row.tau > 0.7 and not row.reason
        for row in found.values()
    )


def test_models_that_share_nothing_are_refused_by_name(url: str, run: Caller) -> None:
    run("irt", "ability", "left", "right", db=url).fails(
        2, "2 components: ada/m00", "ada/m06"
    )
    assert asked(url, "left").abilities().n_models == 6
    both = asked(url, "left", "right")
    for question in (both.fit, both.abilities, lambda: both.next_items("x", new=True)):
        with pytest.raises(MisuseError, match="share no scale"):
            question()


def test_a_part_that_falls_apart_says_so(url: str) -> None:
    """Two benchmarks hang together by a third alone."""
    found = {
        row.left_out: row
        for row in asked(url, "left", "right", "hub")
        .abilities(sensitivity=True)
        .sensitivity
    }
    assert "share no scale" in found["hub"].reason and found["hub"].tau is None
    assert not found["left"].reason


def test_prompts_of_a_single_model_compare_nobody(url: str) -> None:
    report = asked(url, "left", "own").fit()
    assert report.n_items == PROMPTS and any(
        "40 prompts that a single model answered" in note for note in report.notes
    )
    with pytest.raises(MisuseError, match=r"1 model\(s\)"):
        asked(url, "own").fit()


def test_a_model_that_shares_no_prompt_is_left_out(url: str) -> None:
    report = asked(url, "left", "far").abilities()
    assert report.n_models == 6 and any(
        "no prompt shared" in note and "cyd/m20" in note for note in report.notes
    )


def test_draws_count(url: str) -> None:
    found = asked(url, "drawn")
    right, draws = np.zeros((8, PROMPTS)), np.full((8, PROMPTS), 3)
    order = sorted(range(8), key=lambda m: names()[m])
    for row in rows_of("drawn", range(8), seed=1, draws=3):
        right[order.index(names().index(row["model"])), int(row["prompt_id"][-2:])] += (
            row["score"]
        )
    fit = fit_irt(as_responses(right, draws))
    by_key = {row.key: row for row in found.fit().rows}
    assert [by_key[key].difficulty for key in sorted(by_key)] == pytest.approx(
        fit.difficulty
    )
    means = [by_key[key].mean_score for key in sorted(by_key)]
    assert means == pytest.approx((right / draws).mean(axis=0), rel=1e-12)
    assert found.data.responses.are_counts
    report = found.abilities()
    by_prompt = abilities(fit, as_responses(right, draws), np.arange(PROMPTS))
    assert sorted(row.standard_error or 0 for row in report.rows) == pytest.approx(
        sorted(by_prompt.se)
    )
    assert any("draws of a prompt as a cluster" in note for note in report.notes)


def test_partial_credit_is_cut_and_other_scales_are_refused(url: str) -> None:
    report = asked(url, "partial").fit()
    assert any("above 0.2 (of 0 to 1) count as right" in note for note in report.notes)
    assert [row.mean_score for row in report.rows if row.key == "partial00"] == [1]
    with pytest.raises(MisuseError, match="neither right draws nor between bounds"):
        asked(url, "points").fit()
    assert any(
        "points: left out" in note
        for note in asked(url, "partial", "points").fit().notes
    )


def test_one_model_and_a_model_twice(url: str, run: Caller) -> None:
    run("irt", "ability", "own", db=url).fails(2, "1 model(s)", "at least 2")
    run("irt", "ability", "twice", db=url).fails(
        2, "several conditions of one model", "bob/m01 on twice"
    )
    assert asked(url, "twice", latest=True).abilities().n_models == 4


def test_a_prompt_of_two_harnesses_is_two_items_of_one_testlet(url: str) -> None:
    report = asked(url, "both").fit()
    assert (report.n_models, report.n_items, report.n_testlets) == (
        6,
        2 * PROMPTS,
        PROMPTS,
    )
    assert [form.label for form in report.forms] == ["both (one)", "both (two)"]


def test_what_to_ask_next(url: str, run: Caller) -> None:
    report = asked(url, "sums").next_items("new/model", new=True, n=5)
    assert (report.n_asked, len(report.rows)) == (0, 5) and report.n_replayed == 22
    information = [row.information for row in report.rows]
    assert information == sorted(information, reverse=True) and all(
        0.2 < row.chance < 0.8 for row in report.rows
    )
    assert (
        report.mean_error is not None
        and report.mean_error_random is not None
        and report.factor is not None
    )
    assert run(
        "irt", "next", "new/model", "sums", "--new", "-n", "5", "--ids", db=url
    ).out.split() == [row.key for row in report.rows]
    shown = run(
        "irt", "next", "new/model", "sums", "--new", "-n", "5", "--json", db=url
    )
    assert [row["prompt"] for row in shown.rows] == [row.prompt for row in report.rows]
    assert "give no score" in shown.err
    run("irt", "next", "ada/m0", "sums", db=url).fails(
        2, "no answers of 'ada/m0'", "did you mean"
    )
    run("irt", "next", "ada/m00", "sums", db=url).fails(
        2, "has answered all 40 prompts"
    )
    run("irt", "next", "ada/m00", "sums", "--new", db=url).fails(2, "leave --new out")
    run("irt", "next", "ada/m00", *BLOCKS, db=url).fails(
        2, "blocks that answered different prompts"
    )


def test_a_model_goes_on_where_it_stands(url: str) -> None:
    report = asked(url, "begun").next_items(names()[11], n=50)
    assert (
        report.n_asked == 10
        and len(report.rows) == 30
        and report.rows[0].key > "begun09"
    )
    assert report.factor is None and any(
        "too few for an interval" in note for note in report.notes
    )


def test_how_many_dimensions(url: str, run: Caller, tmp_path: Path) -> None:
    report = asked(url, "sums").dimensions(tries=[2, 1], sizes=[10])
    assert [(row.n_dimensions, row.n_prompts) for row in report.rows] == [
        (1, 10),
        (2, 10),
    ]
    assert (
        report.chosen == 1
        and report.n_groups == 22
        and any("fewer than 40" in note for note in report.notes)
    )
    shown = run("irt", "dimensions", "sums", "--try", "1,2", "--sizes", "10", db=url)
    assert shown.out.startswith("The answers show one ability: ")
    explained = run(
        *("irt", "dimensions", "sums", "--try", "1,2", "--sizes", "10", "--explain"),
        db=url,
    )
    assert (
        "1 dimension (*): " in explained.out
        and "plain mean" in shown.out
        and "read back" in shown.err
    )
    assert "gp-IRT (1)" in str(report)
    (row, _) = run(
        "irt", "dimensions", "sums", "--try", "1,2", "--sizes", "10", "--json", db=url
    ).rows
    assert row["log_loss"] == report.rows[0].log_loss and row["chosen"] is True
    run("irt", "dimensions", "sums", "--try", "90", db=url).fails(
        2, "between 1 and 16 here, found [90]"
    )
    run("irt", "dimensions", "sums", "--sizes", "40", db=url).fails(
        2, "between 1 and 39 here"
    )
    run("irt", "dimensions", *BLOCKS, db=url).fails(
        2, "answered different prompts in blocks"
    )
    load(tmp_path, [row | {"score": 1} for row in rows_of("sums", range(9), seed=1)])
    run("irt", "dimensions", "sums", db=store_at(tmp_path / "irt.duckdb")).fails(
        2, "nothing tells abilities apart"
    )
    run("irt", "dimensions", "left", db=url).fails(2, "need 8 models, found 6")


@pytest.mark.parametrize(
    ("model", "reason"),
    [("3pl", "guessing"), ("4pl", "guessing"), ("m2pl", "dimensions")],
)
def test_models_that_are_not_fitted(
    url: str, run: Caller, model: str, reason: str
) -> None:
    run("irt", "fit", "sums", "--model", model, db=url).fails(2, reason, "use 2pl")


def test_a_2pl_that_too_few_prompts_link_is_refused(url: str) -> None:
    with pytest.raises(MisuseError, match="2PL across blocks needs 100 items"):
        asked(url, *BLOCKS, model="2pl").fit()
    assert asked(url, "sums").fit().model == "2pl"


def test_the_commands_fit_a_terminal(url: str, run: Caller) -> None:
    for arguments in (["fit"], ["ability"], ["ability", "--sensitivity"]):
        lines = on_a_terminal(80, "--db", url, "irt", *arguments, "sums", "words")
        assert max(map(len, lines)) <= 80, max(lines, key=len)
        assert any(
            "2PL of 30 models x 80 prompts of sums, words" in line for line in lines
        )
    assert len(run("irt", "fit", "sums", "--json", db=url).rows) == PROMPTS
    assert len(run("irt", "ability", "sums", "--csv", db=url).out.splitlines()) == 23
    run("irt", "ability", "sums", "--family", "developer", db=url).fails(
        2, "--sensitivity"
    )
    run("irt", "ability", "summs", db=url).fails(2, "did you mean")
    run("irt", "ability", "sums", "--metric", "speed", db=url).fails(
        2, "sums has no metric 'speed'"
    )
