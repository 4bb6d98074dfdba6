"""A folder that every command finds something in: a store, the dumps it came from, and
files that commands read."""

from __future__ import annotations

import atexit
import csv
import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

from warehouse.cli.main import main

DEMO = Path(__file__).resolve().parents[2] / "docs/demo/results"
METR = Path(__file__).resolve().parents[1] / "data/metr"
#: Found by whoever asks for vectors, and what says which generation entails another.
TINY, WORDS = "tests.support.embedders:tiny", "tests.support.embedders:words"
STORE = "store.duckdb"
MODELS, PROMPTS, LETTERS = 8, 40, "ABCD"
MAPPING = """
files = ["*.jsonl"]
[run]
model = "model"
benchmark = "benchmark"
recipe = { path = "recipe", optional = true }
training_seed = { path = "seed", optional = true }
parameter_count = { path = "size", optional = true }
step = { path = "step", optional = true }
[sample]
prompt_id = "id"
text = { path = "question", optional = true }
target = { path = "target", optional = true }
choices = { path = "choices", optional = true }
extracted_answer = { path = "said", optional = true }
response = { path = "response", optional = true }
draw = { path = "draw", default = 0, optional = true }
template = { path = "template", optional = true }
fewshot_draw = { path = "shots", optional = true }
[metadata]
category = { path = "category", optional = true }
level = { path = "level", optional = true }
[[scores]]
metric = "acc"
value = "acc"
[metrics.acc]
kind = "binary"
low = 0
high = 1
higher_is_better = true
is_default = true
"""

#: Command lines, and which of their options change nothing on this store, though they
#: may on others.
CALLS: dict[str, set[str]] = {
    "leaderboard reading": {"max_unscored", "n_resamples", "seed", "where"},
    # all of these is scored
    "leaderboard --group reading,sums --json": {"where", "policy"},
    "leaderboard exam --handful --json": {"policy"},  # all is scored
    "leaderboard exam --winner --json": {"policy"},
    "compare model-a model-b -b reading": {
        "n_resamples",
        "only_overall",
        "seed",
        "where",
    },
    "compare model-a model-b -b reading --method permutation --json": {
        "n_resamples",
        "only_overall",
        "seed",
        "where",
    },
    "compare model-a model-b -b reading --flips 3 --json": {"where"},
    "pairs sums": {"cluster", "where"},
    "gate model-a model-b --margin 0.05 --json": {"max_unscored", "where"},
    "gate model-a model-b --margin 0.05 --sequential -b sums --json": {
        "use_history",
        "where",
        "policy",
    },
    "noise variance sums": {"cluster", "where"},
    "noise variance sums --pass-at 1,2": {"cluster", "where"},
    "noise formulations cloze choice": {"cluster", "where"},
    "frontier priced": {"allow_missing_cost", "cluster", "where"},
    "noise total worded --over template": {
        *("cluster", "metric", "where", "fixed", "two_levels", "as_sampled"),
        *("half_width", "judges"),
    },
    "noise templates worded --se 0.2": {"cluster", "factor", "metric", "where"},
    "judge agreement reading --judge acc --human acc_norm": {"seed", "where"},
    "judge plan exam --judge acc --correlation 0.5 --width 0.3": {"where"},
    "judge next exam --judge acc --n 9 --dry-run": {"seed", "where"},
    "horizon metr_horizon --trend": {"latest", "where"},
    "records metr_horizon": {"cluster", "where"},
    "prefer voted --scorer human": {"seed"},
    "prefer voted --by scorer --json": {"elo", "seed"},
    "power --omega2 0.11 --delta 0.03": set(),
    "power --omega2 0.11 --n 300": set(),
    "power --from model-a model-b -b reading --delta 0.1": {"where"},
    "power --from cheap dear -b priced --cost dollars --cheaper 2": {
        "cluster",
        "where",
    },
    "items difficulty reading": {"where"},
    "items difficulty reading --json": {"where"},
    "items difficulty reading --features --by length --json": {
        "cluster",
        "top",
        "where",
    },
    "items datamap org/m0 -b gens": {"min_s"},
    "items datamap org/m0 -b gens --json": {"min_s"},
    "items datamap org/m0 -b gens --suspects --json": {"min_s"},
    "items datamap org/m0 -b gens --distribution --json": {"level", "min_s"},
    f"items datamap org/m0 -b gens --group embedding --embedder {TINY} --json": {
        "min_s"
    },
    f"items datamap org/m0 -b gens --group entailment --entailment {WORDS} --json": {
        "min_s"
    },
    "text grep 'I|.s s' -b gens": {"where"},
    "text grep 'I|.s s' --json": {"count", "max_count", "where"},
    "text similar q00": {"embedder"},
    "subset anchors exam --ids": {"by"},
    "training curves cloze --json": {"cluster"},
    "training seeds": set(),
    "training decide lab/mix-a-900 lab/mix-b-900": set(),
    "training recipes --small parameter_count=100 --large parameter_count=900": {
        "level"
    },
    "schedule --cron '0 * * * *' --show-next 2": set(),
    "store init": set(),
    "store upgrade": set(),
    "store current": set(),
    "store check": set(),
    "store vacuum": set(),
    "config": set(),
    "completion bash": set(),
    "help rank-set": set(),
    "list sources": set(),
    "fix forget 1": set(),
    "fix invalidate run:1 --reason odd": set(),
    "list prices": set(),
    "list declared": set(),
    "fix link reading exam": {"by"},
    "fix metric priced --metric score": set(),
    "fix slices exam category": set(),
    "fix policy exam attempts": {"wrong_value"},
    "list settings": set(),
    "fix tag run:1 kept": set(),
    "fix released model-a 2024-01-31": set(),
    "list models": set(),
    "fix alias model-a model-b": {"kind"},
    "list benchmarks": set(),
    "fix alias sums exam": {"kind"},
    "show run:1": {"full"},
    "list clusters": set(),
    "query": set(),
    "list links": set(),
    "mapping --list": set(),
    "list runs run:1": set(),
    "mapping mmlu_pro -o out.toml": set(),
    "fix cluster exam category": set(),
    "store downgrade base --yes": set(),
    "irt next org/new exam --new --ids": set(),
    "matrix cluster exam": set(),
    "matrix weights exam --draws 50 --json": set(),
    "matrix grow exam": set(),
    "matrix test exam --permutations 20": set(),
    "matrix explain exam --permutations 20 --json": set(),
    "answers exam": {"cluster", "kind", "latest", "seed", "where"},
    "answers exam org/m0 org/m7 --json": {
        "answered",
        "cluster",
        "kind",
        "latest",
        "where",
    },
    "items audit exam": {"cluster", "level", "n_options", "strata", "top"},
    "subset plan exam --size 20": {"draws"},
    "text duplicates exam": {"keep", "store_result"},
    "text cluster exam": {"replace"},
    "card model-a": set(),
    "card model-a --against model-b --json": {"where"},
    "claim 'leaderboard reading' -o out.json": set(),
    "subset export plan.json --to csv": set(),
    "subset import plan.json": {"as_dated"},
    "refresh exam --dry-run": {"baselines", "level", "permutations", "seed"},
    "history sums": {"last"},
    "list runs": {"everything"},  # none is superseded
    "list metrics sums": set(),
    "mapping weights.csv": set(),
    "query score_summary": {"timeout"},
    f"text embed reading --embedder {TINY}": {"whole"},
    "irt ability exam": set(),
    "noise reliability exam --scenarios category --json": {"cluster"},
    "irt fit exam": set(),
    "irt dimensions exam": set(),
}
Line = dict[str, Any]


VOTES = """
files = "votes.csv"

[run]
benchmark = { const = "voted" }

[sample]
prompt_id = "prompt"

[votes]
model_a = "left"
model_b = "right"
first = { const = "a" }
outcome = "winner"
voter = { path = "voter", optional = true }
scorer = "kind"
scorer_kind = "kind"

[votes.covariates.length]
a = "left_length"
b = "right_length"
"""


def copy_filled(folder: Path) -> None:
    """The same as `fill` in a file: a copy of what was filled once in this process."""
    shutil.copytree(_filled(), folder, dirs_exist_ok=True)


@cache
def _filled() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="warehouse-full-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with chdir(folder):
        fill(folder)
    return folder


def fill(folder: Path, store: str = STORE) -> None:
    """Write all of it to a folder that is empty, and the current one; what is loaded to
    a store, by default there."""
    dice = random.Random(5)
    shutil.copytree(DEMO, folder / "demo")
    shutil.copytree(METR, folder / "metr")
    (folder / "mapping.toml").write_text(MAPPING)
    lines = [*_exam(dice), *_generations(dice), *_training(dice), *_worded(dice)]
    (folder / "more.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in lines)
    )
    _table(
        folder / "weights.csv",
        [{"prompt": f"q{n:02}", "weight": 1 + n % 3} for n in range(PROMPTS)],
    )
    _table(
        folder / "verdicts.csv",
        [
            {"prompt": f"q{n:02}", "verdict": "bad" if n % 9 else "ok"}
            for n in range(PROMPTS)
        ],
    )
    _table(
        folder / "families.csv",
        [{"model": f"org/m{m}", "family": f"f{m % 2}"} for m in range(MODELS)],
    )
    _table(
        folder / "priced.csv",
        [
            {
                "model": model,
                "benchmark": "priced",
                "prompt_id": n,
                "score": int(dice.random() < chance),
                "cost": cost,
            }
            for n in range(PROMPTS)
            for model, chance, mean in (("dear", 0.8, 1.0), ("cheap", 0.75, 0.1))
            for cost in [round(mean * (0.5 + dice.random()), 3)]
        ],
    )
    (folder / "votes.toml").write_text(VOTES)
    _table(folder / "votes.csv", [*_votes(dice)])
    for words in (
        ("ingest", "demo", "--cluster-by", "passage"),
        ("ingest", "more.jsonl", "--map", "mapping.toml"),
        ("ingest", "metr"),
        ("ingest", "priced.csv"),
        ("ingest", "votes.csv", "--map", "votes.toml", "--on-duplicate", "draws"),
        ("fix", "metric", "priced", "--metric", "score", "--higher-is-better"),
        ("text", "embed", "exam", "--embedder", TINY),
        ("fix", "tag", "run:1", "kept"),
        ("refresh", "sums"),
        ("subset", "plan", "exam", "--size", "20", "--out", "plan.json"),
        ("claim", "leaderboard exam", "--out", "claim.json"),
    ):
        assert main(["--db", store, "--quiet", *words]) == 0, words


def _votes(dice: random.Random) -> Iterator[Line]:
    """Of ten people and a judge on six prompts."""
    for n in range(260):
        left, right = dice.sample(range(4), 2)
        won = dice.choices(
            ("left", "right", "tie", "both_bad"), (1 + right, 1 + left, 1, 0.4)
        )[0]
        yield {
            "left": f"org/m{left}",
            "right": f"org/m{right}",
            "winner": won,
            "prompt": f"v{n % 6}",
        } | {
            "kind": "human" if n < 200 else "model",
            "voter": f"u{dice.randrange(10)}" if n < 200 else "",
            "left_length": dice.randrange(9, 99),
            "right_length": dice.randrange(9, 99),
        }


def _table(path: Path, rows: list[Line]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _exam(dice: random.Random) -> Iterator[Line]:
    """Questions of four options, each with a category, a few of them with a wrong key."""
    for model in range(MODELS):
        for n in range(PROMPTS):
            key, right = n % 4, dice.random() < 0.2 + 0.09 * model - 0.005 * n
            said = (key if right else dice.randrange(4)) if n % 13 else (key + 1) % 4
            yield {
                "model": f"org/m{model}",
                "benchmark": "exam",
                "id": f"q{n:02}",
                "said": LETTERS[said],
            } | {
                "question": f"word{n % 3} word{n % 5} which is right in case {n % 20}?",
                "target": LETTERS[key],
                "choices": [
                    f"{name} of {n}" for name in ("red", "blue", "green", "black")
                ],
                "category": "abcd"[n % 4],
                "level": n % 2,
                "acc": int(said == key),
            }


def _generations(dice: random.Random) -> Iterator[Line]:
    """Four answers to each of eight prompts, some of them the same in other words."""
    for n in range(8):
        for draw in range(4):
            said = (
                dice.choice(("red apple", "apple red", "blue sky", "sky"))
                if n
                else "blue sky"
            )
            line = {
                "model": "org/m0",
                "benchmark": "gens",
                "id": f"g{n}",
                "draw": draw,
                "response": f"it is {said}",
            }
            yield line | {
                "said": said,
                "question": f"what is {n}?",
                "target": "red apple",
                "acc": int("apple" in said),
            }


def _training(dice: random.Random) -> Iterator[Line]:
    """Three recipes at two sizes, two seeds and four steps each."""
    for size in (100, 900):
        for place, recipe in enumerate("abc"):
            for seed in "12":
                for step in (100, 200, 300, 400):
                    skill = 0.2 + 0.1 * place + 0.001 * step + 0.05 * (size == 900)
                    run = {
                        "model": f"lab/mix-{recipe}-{size}",
                        "recipe": recipe,
                        "seed": seed,
                        "size": size,
                    }
                    for benchmark in ("cloze", "choice"):
                        for n in range(12):
                            score = int(dice.random() < skill)
                            yield run | {
                                "benchmark": benchmark,
                                "step": step,
                                "id": f"p{n}",
                                "acc": score,
                            }


def _worded(dice: random.Random) -> Iterator[Line]:
    """Two benchmarks whose prompts were asked in several forms, by template and by
    examples."""
    for model, benchmark in (
        (m, b) for m in ("org/a", "org/b") for b in ("worded", "shots")
    ):
        for form, prompt in (
            (form, prompt) for form in range(4) for prompt in range(20)
        ):
            said = (
                {"template": f"t{form}"}
                if benchmark == "worded"
                else {"shots": str(form)}
            )
            right = int(dice.random() < 0.4 + form / 10 + prompt / 100)
            yield {
                "model": model,
                "benchmark": benchmark,
                "id": f"w{prompt}",
                "acc": right,
            } | said
