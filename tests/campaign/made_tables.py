"""Made-up tables of results, drawn at random: roles shuffled, names of any language,
columns added that are nothing of the kind.

One seed is one table: the files of a folder, and what is true of them.
"""

from __future__ import annotations

import csv
import json
import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

#: Names that a role has in tables of people, usual ones and foreign ones.
NAMES: dict[str, tuple[str, ...]] = {
    "model": (
        "model",
        "model_name",
        "llm",
        "system",
        "modell",
        "modelo",
        "モデル",
        "who",
    ),
    "prompt": (
        *("id", "question_id", "qid", "problem_idx", "sample_idx", "item", "task"),
        *("aufgabe_id", "nr", "uid", "问题编号", "key"),
    ),
    "text": ("question", "prompt", "query", "frage", "вопрос", "instruction", "q"),
    "target": (
        "answer",
        "gold",
        "label",
        "reference",
        "ground_truth",
        "loesung",
        "key_",
    ),
    "response": (
        *("response", "output", "answer", "prediction", "antwort", "ответ"),
        *("model_output", "completion", "reply", "result"),
    ),
    "score": (
        *("score", "correct", "grade", "punkte", "bewertung", "оценка", "is_ok"),
        *("label", "verdict", "judgement", "result", "hit", "s"),
    ),
}
#: Columns beside them: a name, and what makes the value of a row.
Made = Callable[[random.Random, int, int], Any]
OTHERS: dict[str, tuple[tuple[str, ...], Made]] = {
    "of_prompt": (
        ("category", "difficulty", "thema", "level", "source"),
        lambda rng, prompt, model: f"c{prompt % 4}",
    ),
    "tokens": (
        ("tokens", "n_tokens", "length", "zeichen", "completion_len"),
        lambda rng, prompt, model: rng.randrange(20, 900),
    ),
    "seconds": (
        ("latency", "time", "dauer", "elapsed", "t"),
        lambda rng, prompt, model: round(rng.random() * 9, 3),
    ),
    "setting": (
        ("temperature", "mode", "einstellung", "shots", "version_of_prompt"),
        lambda rng, prompt, model: 0.7,
    ),
    "when": (
        ("timestamp", "date", "created", "zeit"),
        lambda rng, prompt, model: f"2026-05-{1 + prompt % 28:02d}T10:{model:02d}:00Z",
    ),
    "session": (
        ("session_id", "uuid", "request", "hash"),
        lambda rng, prompt, model: "".join(rng.choices("0123456789abcdef", k=24)),
    ),
    "asked": (
        ("precision", "max_digits", "n_options", "turns_max"),
        lambda rng, prompt, model: 2 + prompt % 3,
    ),
    "calls": (
        ("n_calls", "versuche", "schritte", "hops"),
        lambda rng, prompt, model: rng.randrange(1, 6),
    ),
    "flag": (
        ("truncated", "abgebrochen", "cached", "refused", "coupé"),
        lambda rng, prompt, model: rng.random() < 0.2,
    ),
    "property": (
        ("has_image", "is_hard", "mehrstufig", "multi"),
        lambda rng, prompt, model: prompt % 3 == 0,
    ),
    "judge": (
        ("judge", "graded_by", "grader_model", "richter"),
        lambda rng, prompt, model: "gpt-4o",
    ),
    "confidence": (
        ("confidence", "logprob", "sicherheit", "p_answer"),
        lambda rng, prompt, model: round(rng.random(), 4),
    ),
}
WORDS: tuple[tuple[str, str], ...] = (
    ("correct", "incorrect"),
    ("pass", "fail"),
    ("yes", "no"),
    ("Correct Answer", "Incorrect Answer"),
    ("CORRECT", "INCORRECT"),
    ("richtig", "falsch"),
)
MODELS = ("gpt-5-mini", "claude-x", "llama-9b", "qwen-12b", "ada", "bob", "cleo")


LAYOUTS = ("csv", "csv", "lines", "file_a_model", "keyed", "listed", "wide")


@dataclass
class MadeTable:
    """Files of one evaluation, and what is true of them."""

    files: list[Path]
    #: name of a role -> the column that has it.
    columns: dict[str, str]
    #: model -> mean score: its own, or as a share of the full marks.
    means: dict[str, float]
    shares: dict[str, float]
    n_prompts: int
    kind: str  #: what its scores are: ``words``, ``bool`` …
    layout: str
    extra: list[str] = field(default_factory=list)
    n_draws: int = 1


@dataclass
class _Plan:
    """What a table will hold."""

    kind: str
    layout: str
    models: list[str]
    n_prompts: int
    n_draws: int
    names: dict[str, str]  #: role -> name of its column.
    roles: list[str]  #: those that the table has.
    extra: dict[str, str]  #: what else it has -> name of its column.
    words: tuple[str, str]  #: those of its verdicts.

    def columns(self, rng: random.Random) -> list[str]:
        """All names, in an order drawn at random."""
        found = [self.names[role] for role in self.roles] + list(self.extra.values())
        return rng.sample(found, len(found))


def make(seed: int, folder: Path) -> MadeTable:
    """The table of a seed, written into a folder."""
    rng = random.Random(seed)
    plan = _planned(rng)
    order = plan.columns(rng)
    rows: list[dict[str, Any]] = []
    values: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {}
    for number, model in enumerate(plan.models):
        skill = rng.uniform(0.3, 0.85)
        values[model], shares[model] = [], []
        for prompt, draw in product(range(plan.n_prompts), range(plan.n_draws)):
            raw, value, share = _scored(rng, plan.kind, skill, prompt, plan.words)
            row = _row(rng, plan, seed, (number, prompt, draw))
            row[plan.names["score"]] = raw
            rows.append({name: row[name] for name in order})
            values[model].append(value)
            shares[model].append(share)
    files = _written(rng, plan.layout, rows, plan.names, folder)
    return MadeTable(
        files,
        {role: plan.names[role] for role in plan.roles},
        {model: sum(found) / len(found) for model, found in values.items()},
        {model: sum(found) / len(found) for model, found in shares.items()},
        plan.n_prompts,
        plan.kind,
        plan.layout,
        [*plan.extra.values()],
        plan.n_draws,
    )


def _planned(rng: random.Random) -> _Plan:
    kind = rng.choice(("bool", "zero_one", "words", "letters", "share", "ten", "marks"))
    layout = rng.choice(LAYOUTS)
    roles = ["model", "prompt", "score"]
    roles += [role for role in ("text", "target", "response") if rng.random() < 0.6]
    if "text" in roles and rng.random() < 0.25:
        roles.remove("prompt")
    plan = _Plan(
        kind,
        layout,
        rng.sample(MODELS, rng.randint(2, 4)),
        rng.randint(24, 60),
        1 if layout == "wide" else rng.choice((1, 1, 1, 1, 2, 3)),
        _names(rng),
        roles,
        {},
        rng.choice(WORDS),
    )
    _add_others(rng, plan)
    return plan


def _add_others(rng: random.Random, plan: _Plan) -> None:
    """Columns of other kinds, with names that nothing has."""
    taken = {plan.names[role] for role in plan.roles}
    for other in rng.sample(sorted(OTHERS), rng.randint(1, 4)):
        free = [name for name in OTHERS[other][0] if name not in taken]
        plan.extra[other] = rng.choice(free)
        taken.add(plan.extra[other])
    if plan.kind == "marks":
        plan.extra["marks"] = rng.choice(
            ("max_points", "possible", "punkte_max", "total")
        )
    draw = rng.choice(("draw", "trial", "attempt", "versuch", ""))
    if plan.n_draws > 1 and draw:
        plan.extra["draw"] = draw


def _row(
    rng: random.Random, plan: _Plan, seed: int, at: tuple[int, int, int]
) -> dict[str, Any]:
    """The values of a row but for its score, by column; ``at``: the numbers of its
    model, prompt and draw."""
    number, prompt, draw = at
    model = plan.models[number]
    row: dict[str, Any] = {
        plan.names["model"]: model,
        plan.names["prompt"]: _prompt_id(seed, prompt),
        plan.names["text"]: f"What is thing {prompt} of set {seed}, in words?",
        plan.names["target"]: f"g{prompt * 7 % 31}",
        plan.names["response"]: f"It is {rng.randrange(99)}, says {model} of {prompt}",
    }
    for other, name in plan.extra.items():
        if other == "marks":
            row[name] = _marks(prompt)
        elif other == "draw":
            row[name] = draw
        else:
            row[name] = OTHERS[other][1](rng, prompt, number)
    return row


def _names(rng: random.Random) -> dict[str, str]:
    """A name for each role, none twice; now and then names that say nothing."""
    if rng.random() < 0.15:
        letters = rng.sample(string.ascii_lowercase, len(NAMES))
        return dict(zip(NAMES, (f"{letter}1" for letter in letters), strict=True))
    chosen: dict[str, str] = {}
    for role, names in NAMES.items():
        free = [name for name in names if name not in chosen.values()]
        chosen[role] = rng.choice(free)
    return chosen


def _prompt_id(seed: int, prompt: int) -> str | int:
    """The id of a prompt: a number, a name, or hexadecimal digits."""
    if seed % 3 == 0:
        return prompt
    if seed % 3 == 1:
        return f"item-{prompt}"
    return f"{(prompt + 1) * 2654435761 % 2**32:08x}"


def _marks(prompt: int) -> int:
    return (4, 6, 10)[prompt % 3]


def _scored(
    rng: random.Random, kind: str, skill: float, prompt: int, words: tuple[str, str]
) -> tuple[Any, float, float]:
    """What stands in the table, the number that it is, and its share of full marks."""
    right = rng.random() < skill
    value = float(right)
    if kind == "bool":
        return right, value, value
    if kind == "zero_one":
        return int(right), value, value
    if kind == "words":
        return words[0] if right else words[1], value, value
    if kind == "letters":
        return "A" if right else rng.choice("BC"), value, value
    if kind == "share":
        share = round(min(1.0, max(0.0, rng.gauss(skill, 0.2))), 3)
        return share, share, share
    if kind == "ten":
        points = float(min(10, max(1, round(rng.gauss(skill * 10, 2)))))
        return int(points), points, points
    points = round(_marks(prompt) * min(1.0, max(0.0, rng.gauss(skill, 0.2))), 1)
    return points, points, points / _marks(prompt)


def _written(
    rng: random.Random,
    layout: str,
    rows: Sequence[dict[str, Any]],
    names: dict[str, str],
    folder: Path,
) -> list[Path]:
    """The rows in files of a layout."""
    if layout == "csv":
        return [_csv(folder / "results.csv", rows)]
    if layout == "lines":
        path = folder / "results.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return [path]
    if layout == "wide":
        return [_csv(folder / "results.csv", _wide(rows, names))]
    by_model: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_model.setdefault(row[names["model"]], []).append(row)
    files = []
    for model, own in by_model.items():
        bare = [
            {name: value for name, value in row.items() if name != names["model"]}
            for row in own
        ]
        if layout == "file_a_model":
            files.append(_csv(folder / f"{model}.csv", bare))
            continue
        path = folder / f"{model}.json"
        document: Any = {"model": model, "seconds": 17.5, "results": bare}
        if layout == "keyed":
            document = {str(number): row for number, row in enumerate(bare)}
        path.write_text(json.dumps(document))
        files.append(path)
    return files


def _wide(
    rows: Sequence[dict[str, Any]], names: dict[str, str]
) -> list[dict[str, Any]]:
    """A row for each prompt, a column of scores for each model."""
    label = names["prompt"] if names["prompt"] in rows[0] else names["text"]
    found: dict[Any, dict[str, Any]] = {}
    for row in rows:
        wide = found.setdefault(row[label], {label: row[label]})
        wide[row[names["model"]]] = row[names["score"]]
    return list(found.values())


def _csv(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
