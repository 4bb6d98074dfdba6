"""A store with two models that disagree, whose names and texts would hurt a page that
took them for its own."""

from __future__ import annotations

import random

from tests.support.builders import StoreRows

A, B = "lab/a %25 'q\" & b", "lab/ü<script>window.hurt=1</script>"
#: Benchmarks: right or wrong, in clusters; 0 to 10 with lower better, three draws each;
#: of unknown direction.
EXAM, MARKS, ODD = "ex/am 50%", "marks", "odd"
EVIL = (
    '</script><img src=x onerror="window.hurt=1"><script>window.hurt=1</script> '
    "\u202etxet\u202c <b>bold</b>"
)
LONG = 5_000_000
N, ONLY_A, ONLY_B = 30, 4, 2
SUBJECTS = ("algebra", "Ärger")


def scores(seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Scores of the common prompts of `EXAM`."""
    dice = random.Random(seed)
    keys = [f"e{place}" for place in range(N)]
    return tuple(
        {key: float(dice.random() < skill) for key in keys} for skill in (0.7, 0.4)
    )  # type: ignore[return-value]


def subject(key: str) -> str:
    return SUBJECTS[int(key[1:]) % 2]


def build_flips() -> StoreRows:
    rows, dice = StoreRows(), random.Random(4)
    metric = rows.metric()
    rows.describe(EXAM, metric)
    rows.clusters(
        EXAM,
        {f"c{n}": [f"e{3 * n + i}" for i in range(3)] for n in range(N // 3)},
        name="document",
    )
    of_a, of_b = scores(3)
    rows.clusters(
        EXAM,
        {"wins": [key for key in of_a if of_a[key] > of_b[key]]},
        name="of scores",
        default=False,
    )
    rows.rows["clustering"][-1]["kind"] = "performance"
    own = (
        of_a | {f"x{n}": 1.0 for n in range(ONLY_A)} | {"nobody": None},
        of_b | {f"y{n}": 0.0 for n in range(ONLY_B)} | {"nobody": 1.0},
    )
    nothing = dict.fromkeys(
        ("extracted_answer", "error", "explanation", "finish_reason", "input_tokens")
    )
    for model, given in zip((A, B), own, strict=True):
        run = rows.run(model, EXAM)
        rows.scores(run, given)
        for key in given:
            said = f"{model} says of {key}: {EVIL}" + (
                "x" * LONG if (model, key) == (A, "e0") else ""
            )
            rows.generation(
                run,
                key,
                0,
                said,
                **nothing | {"finish_reason": "length" if key == "e1" else "stop"},
            )
    for name, higher in ((MARKS, False), (ODD, None)):
        label = rows.metric(name)
        rows.describe(name, label, kind="bounded", high=10.0, higher=higher)
        for model in (A, B):
            low = 6 * (name == ODD and model == A)  # whichever is better, they differ
            drawn = {
                f"{name}{n}": [float(dice.randint(low, low + 4)) for _ in range(3)]
                for n in range(12)
            }
            rows.scores(rows.run(model, name), drawn, label)
    for prompt in rows.rows["prompt"]:
        if prompt["key"][:1] == "e":
            prompt["metadata"] = {
                "subject": subject(prompt["key"]),
                "evil": EVIL,
                "first": prompt["key"] == "e0",
            }
            prompt["text"] = (
                f"{EVIL} Question {prompt['key']} of {subject(prompt['key'])}"
            )
        else:
            prompt["metadata"] = None
    return rows
