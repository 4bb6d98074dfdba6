"""Options that say what one row is change the answer of every command that has them,
where there are seeds, repeats."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from re import sub

import click
import pytest

from tests.cli.test_options_used import FORMS, command_of, values_of
from tests.support.cli import Caller
from warehouse import connect

OPTIONS = ("each", "repeats", "seeds_are", "pair_seeds")
#: Commands with such options, as they are called here; two models where pairs of seeds
#: or repeats are asked for.
CALLS = {
    "leaderboard": ("leaderboard", "quiz"),
    "compare": ("compare", "m0", "m1"),
    "pairs": ("pairs", "quiz"),
    "gate": ("gate", "m0", "m1", "--margin", "0.1"),
    "card": ("card", "m0"),
    "frontier": ("frontier", "quiz"),
    "power": ("power", "--from", "m0", "m1", "--delta", "0.1"),
    "report": ("report", "--resamples", "0", "--out", "page.html"),
}
#: The same where runs are repeats: of a model with fixed weights.
OF_REPEATS = {
    "compare": ("compare", "plain", "other"),
    "gate": ("gate", "plain", "other", "--margin", "0.1"),
    "card": ("card", "plain"),
    "power": ("power", "--from", "plain", "other", "--delta", "0.1"),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two models of three seeds at two checkpoints, and two of fixed weights with two
    runs."""
    folder = tmp_path_factory.mktemp("rows")
    dice = random.Random(5)
    lines = ["model,training_seed,step,run_id,benchmark,prompt_id,score,cost"]
    runs = [
        (f"m{m}", str(seed), str(step), "")
        for m in range(2)
        for seed in range(3)
        for step in (100, 200)
    ]
    runs += [
        (model, "", "", f"r{number}")
        for model in ("plain", "other")
        for number in range(2)
    ]
    for place, (model, seed, step, run_id) in enumerate(runs):
        right = 0.4 + 0.03 * place
        for prompt in range(40):
            score = int(dice.random() < right)
            lines.append(
                f"{model},{seed},{step},{run_id},quiz,q{prompt},{score},{dice.random():.3f}"
            )
    (folder / "runs.csv").write_text("\n".join(lines) + "\n")
    url = f"duckdb:///{folder / 'store.duckdb'}"
    report = connect(url).ingest(folder / "runs.csv")
    assert report.total("n_runs") == 16
    return url


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands write their files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands() -> Iterator[tuple[str, click.Option]]:
    for name, words in CALLS.items():
        for option in command_of(list(words)).params:
            if isinstance(option, click.Option) and option.name in OPTIONS:
                yield name, option


def test_all_commands_with_such_options_are_called_here() -> None:
    from tests.cli.test_options_used import COMMANDS

    groups = {
        name
        for name in COMMANDS
        if any(other.startswith(f"{name} ") for other in COMMANDS)
    }
    found = {
        name
        for name in COMMANDS.keys() - groups
        if any(option.name in OPTIONS for option in command_of(name.split()).params)
    }
    found.remove("records")  # needs days, which no run here has
    assert found == CALLS.keys()
    assert not FORMS & set(OPTIONS)


@pytest.mark.parametrize(
    ("name", "option"), [pytest.param(n, o, id=f"{n}-{o.name}") for n, o in commands()]
)
@pytest.mark.rare
def test_an_option_of_rows_changes_the_answer_or_is_refused(
    filled: str, run: Caller, name: str, option: click.Option, in_folder: Path
) -> None:
    words = (
        OF_REPEATS.get(name, CALLS[name]) if option.name == "repeats" else CALLS[name]
    )
    words = ("--explain", *words)  # an interval may move where a verdict stays
    before = run(*words, db=filled)
    assert before.code in (0, 1, 5), before.err
    for value in values_of(option):
        after = run(*words, *value, db=filled)
        assert (after.code, after.out, after.err) != (
            before.code,
            before.out,
            before.err,
        ), value


@pytest.mark.rare
def test_a_pilot_and_a_report_are_of_the_rows_that_were_asked_for(
    filled: str, run: Caller, in_folder: Path
) -> None:
    words = ("power", "--from", "m0", "m1", "--delta", "0.1")
    assert "the pilot is over training seeds" in run(*words, db=filled).err
    run(*words, "--each", "seed", db=filled).fails(2, "'m0' means 3 conditions on quiz")
    alone = run(*words, "--each", "seed", "--where", "training_seed=1", db=filled)
    assert alone.code == 0 and "over training seeds" not in alone.err
    of_draws = run(*words, "--seeds-are", "sampling", "--json", db=filled).rows
    assert (
        len({row["standard_error"] for row in of_draws if row["n"] == 40}) > 1
    )  # more draws lower it
    like_seeds = run(
        "power",
        "--from",
        "plain",
        "other",
        "--delta",
        ".1",
        "--repeats",
        "as-seeds",
        db=filled,
    )
    assert "the pilot is over runs that are counted like seeds" in like_seeds.err
    run("power", "--from", "plain", "other", "--repeats", "split", db=filled).fails(
        2, "no one figure on quiz"
    )
    run("power", "--omega2", "1", "--delta", "1", "--each", "seed").fails(
        2, "--each goes with --from"
    )
    for option, value in (
        ("each", "seed"),
        ("repeats", "as_seeds"),
        ("seeds_are", "sampling"),
    ):
        connect(filled).report("page.html", n_resamples=0, **{option: value})
        page = sub("<[^>]*>", "", (in_folder / "page.html").read_text())
        asked = f"--{option} {value}".replace("_", "-")
        assert (
            f"leaderboard quiz {asked}" in page
            and f"pairs quiz --resamples 0 {asked}" in page
        )
