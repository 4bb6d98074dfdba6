"""One store that holds a case of everything the views distinguish, built by hand.

Every benchmark is one theme; `tests/test_views_*.py` say what must come out.
"""

from __future__ import annotations

import random
from datetime import datetime
from functools import cache

from tests.support.builders import Rate, Scores, StoreRows

# goldens.md: G1 in four clusters, G5 and G6 with several draws, G12 models × items
G1 = {"w": [1, 1, 0, 1], "x": [0, 0], "y": [1, 1, 1], "z": [0]}
G5 = [[1, 1, 0], [0, 0], [1, 1, 1, 1], [1, 0, 0, 1]]
G6 = [[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1]]
G12 = ["1101", "0101", "1111", "0001", "1011"]


def build_world() -> StoreRows:
    rows = StoreRows()
    for part in (
        *(
            _golden,
            _draws,
            _items,
            _quiz,
            _essay,
            _words,
            _edges,
            _seeds,
            _suite,
            _published,
            _judged,
            _seen,
            _votes,
        ),
        *(_drift, _operations),
    ):
        part(rows)
    return rows


#: The same for all that only look at it: `filled_url` fills one store with it in a
#: process.
the_world = cache(build_world)


def numbered(values: list[object]) -> dict[str, object]:
    return {f"p{place}": value for place, value in enumerate(values)}


def _golden(rows: StoreRows) -> None:
    """G1: clustered 0/1 scores; a second run saw the prompts of one cluster only."""
    scores, members = {}, {}
    for label, values in G1.items():
        members[label] = [f"{label}{place}" for place in range(len(values))]
        scores |= dict(zip(members[label], map(float, values), strict=True))
    metric = rows.metric()
    rows.describe("golden", metric)
    rows.clusters("golden", members)
    rows.clusters(
        "golden", {"all": members["w"] + members["x"]}, name="coarse", default=False
    )
    rows.scores(rows.run("org/a", "golden"), scores)
    rows.scores(rows.run("org/b", "golden"), {key: scores[key] for key in members["w"]})


def _draws(rows: StoreRows) -> None:
    """G5, G6, stored rates, a mix of one and several draws, and one draw only."""
    for number, draws in enumerate((G5, G6)):
        run = rows.run("org/a", "draws", temperature=float(number))
        rows.scores(
            run, numbered([[float(draw) for draw in prompt] for prompt in draws])
        )
    run = rows.run("org/b", "draws")
    rows.scores(
        run, numbered([Rate(0.3, 10), Rate(0.0, 10), Rate(1.0, 10), Rate(0.5, 10)])
    )
    rows.scores(
        rows.run("org/c", "draws"),
        numbered([[1.0, 0.0], [1.0], [0.0, 0.0, 1.0], [0.0]]),
    )
    rows.scores(rows.run("org/d", "draws"), numbered([1.0, 0.0, 1.0, 1.0]))
    rows.describe("draws", rows.metric())


def _items(rows: StoreRows) -> None:
    """G12: five models on four items, the last item constant; two repeats of the first
    model."""
    for number, answers in enumerate(G12):
        scores = numbered([float(answer) for answer in answers])
        for repeat in range(2 if number == 0 else 1):
            rows.scores(rows.run(f"item/model{number}", "items", repeat=repeat), scores)
    rows.describe("items", rows.metric())


def _quiz(rows: StoreRows) -> None:
    """Repeats, missing scores, a perturbation, two filters, an alias, hidden runs."""
    dice = random.Random(7)
    keys = [f"q{place}" for place in range(40)]
    rows.describe("quiz", rows.metric())
    rows.describe("quiz", rows.metric("acc", "strict"), default=False)
    rows.model("old/a", alias_of="org/a")
    for model, skill in (
        ("org/a", 0.7),
        ("old/a", 0.6),
        ("org/b", 0.5),
        ("org/c", 0.4),
    ):
        for repeat in range(2 if model == "org/b" else 1):
            run = rows.run(model, "quiz", repeat=repeat, fewshot=5, n_benchmark=40)
            rows.scores(run, {key: _answers(dice, skill, 3) for key in keys})
            rows.scores(
                run,
                {key: _answers(dice, skill, 1) for key in keys},
                rows.metric("acc", "strict"),
            )
            rows.scores(
                run,
                {key: _answers(dice, skill / 2, 1) for key in keys},
                perturbation="typo",
            )
    missing: Scores = {
        key: [None, 1.0] if place % 5 else [None, None]
        for place, key in enumerate(keys)
    }
    rows.scores(rows.run("org/d", "quiz", fewshot=5), missing)
    subset = rows.run("org/e", "quiz", fewshot=5, status="truncated", n_benchmark=40)
    rows.scores(
        subset, {key: 1.0 if place % 3 else 0.0 for place, key in enumerate(keys[:9])}
    )
    others = rows.run("org/h", "quiz", fewshot=5, status="failed", n_benchmark=40)
    rows.scores(others, {"other0": 1.0, "other1": 0.0})
    newer = rows.run("org/f", "quiz", fewshot=5)
    rows.scores(newer, dict.fromkeys(keys, 0.5))
    for hidden in ({"superseded_by": newer}, {"status": "invalidated"}):
        rows.scores(
            rows.run("org/f", "quiz", repeat=1, fewshot=5, **hidden), {"q0": 1.0}
        )
    rows.benchmark("quiz_2024", alias_of="quiz")
    rows.scores(
        rows.run("org/g", "quiz_2024"), {key: _answers(dice, 0.5, 1) for key in keys}
    )
    rows.describe("quiz_2024", rows.metric())
    link = {
        "prompt_id": rows.prompt("quiz_2024", "q0"),
        "method": "same text",
        "canonical_prompt_id": rows.prompt("quiz", "q0"),
    }
    rows.add("prompt_link", ("q0",), **link)


def _answers(dice: random.Random, skill: float, draws: int) -> list[float]:
    return [float(dice.random() < skill) for _ in range(draws)]


def _essay(rows: StoreRows) -> None:
    """A continuous score with a large offset, in unequal clusters that leave prompts
    out."""
    dice = random.Random(8)
    metric = rows.metric("chrf")
    rows.describe("essay", metric, kind="bounded", high=1e6)
    keys = [f"e{place}" for place in range(60)]
    rows.clusters(
        "essay",
        {
            f"topic{size}": keys[size * (size + 1) // 2 :][: size + 1]
            for size in range(9)
        },
    )
    for model in ("org/a", "org/b"):
        level = {f"topic{size}": dice.gauss(5e3, 1.0) for size in range(9)}
        owner = {
            key: f"topic{size}"
            for size in range(9)
            for key in keys[size * (size + 1) // 2 :][: size + 1]
        }
        scores = {
            key: level.get(owner.get(key, ""), 5e3) + dice.gauss(0, 0.5) for key in keys
        }
        rows.scores(rows.run(model, "essay"), scores, metric)


def _words(rows: StoreRows) -> None:
    """Ratio metrics with weights and links, clustered; lower is better."""
    dice = random.Random(9)
    keys = [f"w{place}" for place in range(30)]
    rows.clusters(
        "words", {f"book{place}": keys[place * 5 : place * 5 + 5] for place in range(6)}
    )
    weights = {key: float(dice.randint(20, 400)) for key in keys}
    links = (("word_perplexity", "exp_neg"), ("bits_per_byte", "neg_over_ln2"))
    metrics = [rows.metric(name, link=link) for name, link in links]
    for metric in metrics:
        rows.describe(
            "words",
            metric,
            default=metric == metrics[0],
            kind="continuous",
            low=None,
            high=None,
            higher=False,
        )
    for model in ("org/a", "org/b"):
        run = rows.run(model, "words")
        for metric in metrics:
            scores = {key: -dice.uniform(1, 4) for key in keys}
            rows.scores(run, scores, metric, weights=weights)


def _edges(rows: StoreRows) -> None:
    """One prompt, equal scores, nothing scored, a figure that is no mean, overflow,
    infinite scores, zero errors."""
    metric, free = rows.metric(), rows.metric("free", link="none")
    steep = rows.metric("steep", link="exp_neg")
    rows.describe("edges", metric)
    cases: list[tuple[Scores, int]] = [
        ({"p0": 1.0}, metric),
        ({"p0": 0.1, "p1": 0.1, "p2": 0.1}, metric),
        ({"p0": None, "p1": [None, None]}, metric),
        ({"p0": 3.0, "p1": 4.0}, free),
        ({"p0": -800.0, "p1": -900.0}, steep),
    ]
    for number, (scores, which) in enumerate(cases):
        rows.scores(rows.run(f"edge/{number}", "edges"), scores, which)
    rows.describe("unbounded", metric, kind="continuous", low=None, high=None)
    sides: tuple[Scores, ...] = (
        {"p0": float("inf"), "p1": 1.0, "p2": [0.0, None]},
        {"p0": [float("-inf"), 1.0], "p1": 1.0, "p2": 0.0},
        {"p0": float("inf"), "p1": float("-inf"), "p2": 1.0},
    )
    for number, side in enumerate(sides):
        rows.scores(rows.run(f"edge/{number}", "unbounded"), side, metric)
    rows.clusters("balanced", {"x": ["p0", "p1"], "y": ["p2", "p3"]})
    rows.scores(rows.run("edge/0", "balanced"), numbered([0.3, 0.7, 0.9, 0.1]))
    weights = {f"p{place}": weight for place, weight in enumerate((1.0, 3.0, 2.0, 2.0))}
    rows.scores(
        rows.run("edge/1", "balanced"), numbered([0.2, 0.6, 0.9, 0.1]), weights=weights
    )


def _seeds(rows: StoreRows) -> None:
    """Three training seeds at two steps, one of them evaluated twice; a published last
    step."""
    rows.describe("probe", rows.metric())
    dice = random.Random(10)
    for seed in ("s0", "s1", "s2"):
        for step in (1000.0, 2000.0):
            for repeat in range(2 if seed == "s0" else 1):
                run = rows.run(
                    "lab/seeds", "probe", seed=seed, step=step, repeat=repeat
                )
                rows.scores(
                    run, {f"p{n}": _answers(dice, step / 2500, 1) for n in range(20)}
                )
        last = rows.run("lab/seeds", "probe", seed=seed, step=3000.0)
        rows.published(
            last, 0.9 + len(seed) / 100, benchmark="probe", standard_error=0.02, n=20
        )


def _suite(rows: StoreRows) -> None:
    """A suite of two scenarios, one with two parts; ties, a lower-is-better part, a
    gap."""
    for child, parent in (
        ("suite/one", "suite"),
        ("suite/two", "suite"),
        ("suite/two/a", "suite/two"),
        ("suite/two/b", "suite/two"),
    ):
        rows.benchmark(child, parent)
    loss = rows.metric("loss")
    figures = {
        "suite/one": {"win/a": 0.9, "win/b": 0.9 + 1e-15, "win/c": 0.1},
        "suite/two/a": {"win/a": 0.5, "win/b": 0.7, "win/c": 0.6},
        "suite/two/b": {"win/a": -2.0, "win/b": -1.0},
    }
    for benchmark, values in figures.items():
        metric = loss if benchmark.endswith("b") else rows.metric()
        rows.describe(benchmark, metric, higher=metric != loss)
        for model, value in values.items():
            scores = {
                f"{benchmark}{place}": value + sign
                for place, sign in enumerate((-1, 1))
            }
            rows.scores(rows.run(model, benchmark), scores, metric)


def _published(rows: StoreRows) -> None:
    """A published figure for every verdict, on a benchmark of their own."""
    metric = rows.metric()
    for benchmark in ("told", "retold"):
        rows.benchmark(benchmark, "telling")
        rows.describe(benchmark, metric)
    tenths = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    run = rows.run("told/exact", "told")
    rows.scores(run, numbered(tenths))
    error = (5 / 7 * 2 / 7 * 7 / 6 / 7) ** 0.5
    rows.published(run, 5 / 7, benchmark="told", standard_error=error, n=7)
    rows.published(run, 0.714, benchmark="told")
    rows.published(run, None, benchmark="told")
    run = rows.run("told/nulls", "told")
    rows.scores(run, numbered([[1.0, None], [None], [1.0], [1.0, 1.0, 0.0, None]]))
    rows.published(run, 0.5, benchmark="told")
    rows.published(run, 0.5, benchmark="told", statistic="pass@2")
    run = rows.run("told/gaps", "told", temperature=0.5)
    rows.scores(run, numbered([[1.0, 0.0, None], [1.0, 1.0, None, None], [None, None]]))
    rows.published(run, 0.5, benchmark="told", statistic="pass@2")
    rows.published(run, 2 / 9, benchmark="told", statistic="pass^2")
    run = rows.run("told/counted", "told", n_requested=4)
    rows.scores(run, numbered([1.0, None, None, 1.0]))
    rows.published(run, 0.5, benchmark="told", n=4)
    run = rows.run("told/short", "told", status="truncated", n_requested=50)
    rows.scores(run, numbered(tenths))
    rows.published(run, 0.4, benchmark="told", n=50)
    run = rows.run("told/other", "told", temperature=1.0)
    rows.scores(run, numbered([[1.0, 0.0, 0.0, 1.0, 0.0], [0.0] * 5, [1.0] * 5]))
    rows.published(run, 0.9, benchmark="told")
    for statistic, value in (
        ("pass@2", (0.7 + 0 + 1) / 3),
        ("pass@5", 2 / 3),
        ("pass^1", 1.4 / 3),
        ("pass^2", (0.1 + 0 + 1) / 3),
        ("pass^5", 1 / 3),
        ("pass^6", 1.0),
        ("best", 2 / 3),
        ("pass@6", 1.0),
        ("elo", 1200.0),
    ):
        rows.published(run, value, benchmark="told", statistic=statistic)
    run = rows.run("told/only", "told")
    rows.published(run, 0.3, benchmark="told")
    group = rows.run("told/group", "told", group="group")
    rows.scores(group, numbered([1.0, 0.0]))
    rows.scores(
        rows.run("told/group", "retold", group="group"), numbered([1.0, 1.0, 1.0, 0.0])
    )
    rows.published(None, 0.625, benchmark="telling", group="group")
    rows.published(None, 4 / 6, benchmark="telling", group="group")


def _judged(rows: StoreRows) -> None:
    """One metric by two judges, two task versions, two agents, a split."""
    judges = [rows.metric("quality", judge=name) for name in ("gpt", "claude")]
    for metric in judges:
        rows.describe(
            "judged", metric, default=metric == judges[0], kind="bounded", high=10.0
        )
    dice = random.Random(11)

    def marks() -> Scores:
        return {f"j{place}": dice.uniform(0, 10) for place in range(15)}

    rows.scores(rows.run("chat/a", "judged"), marks(), judges[0])
    rows.scores(rows.run("chat/b", "judged"), marks(), judges[0])
    rows.scores(rows.run("chat/c", "judged"), marks(), judges[1])
    both = rows.run("chat/both", "judged")
    for metric in judges:
        rows.scores(both, marks(), metric)
    rows.scores(rows.run("chat/d", "judged", task_version="2"), marks(), judges[0])
    rows.scores(rows.run("chat/a", "judged", agent="react"), marks(), judges[0])
    rows.scores(rows.run("chat/e", "judged", split="test"), marks(), judges[0])


def _seen(rows: StoreRows) -> None:
    """A run with texts: two responses, one failed; two prompts of one text; a tool's
    odd id."""
    rows.describe("seen", rows.metric())
    run = rows.run("org/a", "seen", started_at=datetime(2026, 1, 5))
    rows.scores(
        run, {"task/1 'x'": [1.0, None], "abcdef123": [0.0], "abcdef999": [1.0]}
    )
    answered = {
        "extracted_answer": "4",
        "error": None,
        "explanation": "right",
        "latency": 1.5,
    }
    failed = {
        "extracted_answer": None,
        "error": "timeout",
        "explanation": None,
        "latency": None,
    }
    spent = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25}
    rows.generation(run, "task/1 'x'", 0, "It is 4.", **answered, **spent)
    rows.generation(run, "task/1 'x'", 1, "", **failed, **spent)
    rows.rows["price"].append(
        {
            "id": 1,
            "model": "org/a",
            "valid_from": datetime(2026, 1, 1),
            "input_price": 2.0,
            "output_price": 8.0,
            "cached_price": None,
            "reasoning_price": None,
            "valid_until": None,
        }
    )
    rows.transcript(
        run,
        "task/1 'x'",
        0,
        {"search": (2, 1), "run": (1, None)},
        n_turns=3,
        limit_hit=None,
    )
    rows.transcript(run, "task/1 'x'", 1, {}, n_turns=1, limit_hit="time")
    for place in range(2):
        rows.prompt("seen", f"copy{place}", text="the same words")
    rows.scores(
        rows.run("org/b", "seen", started_at=datetime(2026, 1, 6)),
        {"copy0": 1.0, "copy1": 1.0, "abcdef123": 0.0},
    )


def _votes(rows: StoreRows) -> None:
    """A model that a judge held against one opponent."""
    rows.describe("duel", rows.metric("win_rate", judge="judge/x"))
    run = rows.run("org/a", "duel", opponent="org/b")
    rows.scores(
        run,
        {"d0": 1.0, "d1": 0.3, "d2": 0.5, "d3": None},
        rows.metric("win_rate", judge="judge/x"),
    )


def _drift(rows: StoreRows) -> None:
    """One model before and after a change of its revision."""
    rows.describe("drift", rows.metric())
    for day, revision, right in ((5, "v1", 3), (7, "v2", 2)):
        run = rows.run(
            "drift/a", "drift", revision=revision, started_at=datetime(2026, 1, day)
        )
        rows.scores(run, {f"d{place}": float(place < right) for place in range(4)})


def _operations(rows: StoreRows) -> None:
    """Two sources, what scanners found in generations of neither, and two refreshes of
    which the later is not finished."""
    for source, place in ((1, 0), (1, 1), (2, 0)):
        found = {
            "uuid": "elsewhere",
            "place": None,
            "position": place,
            "value": 1.0 - place,
            "status": "scored",
        }
        rows.rows["scan_value"].append(
            {
                "source_id": source,
                "scan_id": f"scan{source}",
                "metric_id": rows.metric(),
                **found,
            }
        )
    rows.votes(2, "quiz", ("org/a", "org/b"), ("a", "b", "tie", "both_bad", None))
    rows.votes(2, "quiz", ("org/a", "org/b"), ("a", "a"), judge="judge/x", first="b")
    for number, loaded in ((1, datetime(2026, 2, 1)), (2, None)):
        rows.add(
            "source",
            (number,),
            sha256=f"{number}" * 64,
            settings_key="",
            path=f"dump{number}",
            format="tabular",
            importer_version="1",
            state="loaded" if loaded else "claimed",
            claimed_at=datetime(2026, 2, 1),
            loaded_at=loaded,
            n_runs=number,
            bytes=10,
        )
    rows.rows["run_source"] += [
        {"run_id": run["id"], "source_id": 1, "place": "x"} for run in rows.rows["run"]
    ]
    for number, finished in enumerate(
        (datetime(2026, 3, 1), datetime(2026, 4, 1), None), start=1
    ):
        rows.add(
            "refresh",
            (number,),
            started_at=datetime(2026, 3, number),
            finished_at=finished,
            state="finished" if finished else "running",
            program_version="0",
        )
        rows.rows["metric_value"].append(
            {
                "refresh_id": number,
                "subject_kind": "run",
                "subject": "a",
                "benchmark": "quiz",
                "metric": "acc",
                "statistic": "mean",
                "method": "wilson",
                "method_version": "1",
                "estimate": 0.5 + number / 8,
                "n": 40,
                "input_fingerprint": "",
            }
        )
