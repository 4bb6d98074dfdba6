"""The samples of a run: one line for each score, in blocks of prompts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from warehouse.interchange.every_eval_ever_results import DETAILS, SCHEMA_VERSION, result_id
from warehouse.interchange.every_eval_ever_run import Run, parsed
from warehouse.records.hashing import sha256_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Prompts that are held in memory at a time.
BLOCK = 500

_TEXTS = """
select id, key, occurrence, tool_id, text, target, choices, metadata from prompt
where id between :first and :last
"""
_COLUMNS = ("finish_reason", "input_tokens", "output_tokens", "cost", "explanation")
_PLACE = ("prompt_id", "perturbation", "fewshot_draw", "template", "draw")

Row = dict[str, Any]
Place = tuple[Any, ...]


def lines_of(store: Store, run: Run, evaluation_id: str, scored: bool) -> Iterator[Row]:
    """The lines of a run.

    Args:
        store: an open store.
        run: the run.
        evaluation_id: id of its evaluation.
        scored: lines with a score; else what has none: scores without a number, and responses
            and likelihoods that nothing scores.
    """
    prompts = store.rows(query_text("interchange", "prompts_of_run"), {"run": run.id})
    ordered = sorted(prompts, key=lambda row: (row["occurrence"], row["id"]))
    positions = {row["id"]: place for place, row in enumerate(ordered)}
    ids = [row["id"] for row in prompts]
    specs = {metric["id"]: metric for metric in run.metrics}
    for start in range(0, len(ids), BLOCK):
        block = ids[start : start + BLOCK]
        bounds = {"first": block[0], "last": block[-1]}
        part = _Block(store, run, bounds)
        for place in part.places:
            again = not scored and bool(part.lines(place, True))
            for score in part.lines(place, scored):
                yield part.line(place, score, positions[place[0]], evaluation_id, specs, again)
                again = True


class _Block:
    """Facts of a run on some prompts that follow each other."""

    def __init__(self, store: Store, run: Run, bounds: dict[str, int]) -> None:
        bound = {"run": run.id, **bounds}
        self.run = run
        self.prompts = {row["id"]: row for row in store.rows(_TEXTS, bounds)}
        self.scores, self.choices = defaultdict[Place, list[Row]](list), defaultdict[Place, list[Row]](list)
        for query, target in (
            (query_text("interchange", "scores_of_block"), self.scores),
            (query_text("interchange", "choices_of_block"), self.choices),
        ):
            for row in store.rows(query, bound):
                target[_place(row)].append(row)
        rows = store.rows(query_text("interchange", "generations_of_block"), bound)
        self.generations = {_place(row): row for row in rows}
        self.places = list(dict.fromkeys((*self.generations, *self.choices, *self.scores)))

    def lines(self, place: Place, scored: bool) -> list[Row | None]:
        """Scores of which lines are made; ``None``: a line without one."""
        known = [row for row in self.scores.get(place, []) if row["value"] is not None]
        if scored:
            return list(known)
        rest: list[Row | None] = [row for row in self.scores.get(place, []) if row["value"] is None]
        return rest or ([] if known else [None])

    def line(
        self, place: Place, score: Row | None, position: int, evaluation_id: str, specs: dict[int, Row], again: bool
    ) -> Row:
        """One line; ``again``: prompt and response stand in an earlier one already."""
        prompt, generation = self.prompts[place[0]], self.generations.get(place, {})
        golds = _golds(prompt["target"])
        text = prompt["text"] or ""
        choices = parsed(prompt["choices"])
        options = [_text(item) for item in choices] if isinstance(choices, list) else None
        kept = self._kept(place, prompt, position, again)
        hashed = json.dumps(
            {"raw": text, "reference": golds}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        answer = generation.get("extracted_answer")
        line: Row = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": evaluation_id,
            "model_id": self.run.model_id,
            "evaluation_name": str(self.run.header["benchmark"]),
            "sample_id": prompt["tool_id"] or prompt["key"],
            "sample_hash": sha256_of(hashed),
            "interaction_type": "single_turn",
            "input": {"raw": text, "formatted": generation.get("prompt_sent"), "reference": golds, "choices": options},
            "output": {"raw": self._texts(place, generation)},
            "messages": None,
            "answer_attribution": []
            if answer is None
            else [
                {
                    "turn_idx": 0,
                    "source": "output.raw",
                    "extracted_value": answer,
                    "extraction_method": (score or {}).get("filter") or "unknown",
                    "is_terminal": True,
                }
            ],
            "evaluation": None,
            **_counts(generation),
            "error": generation.get("error"),
        }
        if score is not None:
            line["evaluation_result_id"] = result_id(score["metric"], score["filter"])
            kept["score"] = _without(score, (*_PLACE, "value", "metric_id"))
            if score["value"] is not None:
                correct = _is_correct(score["value"], specs[score["metric_id"]])
                line["evaluation"] = {"score": score["value"], "is_correct": correct}
        text_kept = json.dumps(kept, sort_keys=True, allow_nan=False, ensure_ascii=False)
        return line | {"metadata": {DETAILS: text_kept}}

    def _texts(self, place: Place, generation: Row) -> list[str]:
        """The response; of a score of all draws, those of all draws."""
        if place[-1] >= 0:
            return [] if generation.get("response") is None else [generation["response"]]
        others = (row for key, row in self.generations.items() if key[:-1] == place[:-1] and key[-1] >= 0)
        return [row["response"] for row in others if row["response"] is not None]

    def _kept(self, place: Place, prompt: Row, position: int, again: bool) -> Row:
        """What the format has no field for: columns of a sample row."""
        generation = self.generations.get(place, {})
        row: Row = {
            "prompt_id": prompt["key"],
            "position": position,
            "draw": place[-1],
            **{name: value for name, value in zip(_PLACE[1:-1], place[1:-1], strict=True) if value},
        }
        if again:
            return {"row": row, "again": True}
        row |= {"target": prompt["target"], "text": prompt["text"]}
        row |= {name: generation[name] for name in _COLUMNS if generation.get(name) is not None}
        for name in ("choices", "metadata"):
            value = parsed(prompt[name])
            if value is not None:
                row[name] = json.dumps(value, ensure_ascii=False)
        if row["text"]:
            del row["text"]
        choices = self.choices.get(place)
        if choices:
            row["choice_scores"] = [_without(item, _PLACE) for item in choices]
        return {"row": row}


def _place(row: Row) -> Place:
    return tuple(row[name] for name in _PLACE)


def _without(row: Row, names: tuple[str, ...]) -> Row:
    return {key: value for key, value in row.items() if key not in names and value is not None}


def _golds(target: str | None) -> list[str]:
    """Right answers: several are kept as a JSON list of texts."""
    if target is None:
        return []
    try:
        golds = json.loads(target) if target.startswith("[") else None
    except ValueError:
        golds = None
    texts = isinstance(golds, list) and all(isinstance(item, str) for item in golds)
    return golds if texts and isinstance(golds, list) else [target]


def _is_correct(value: float, spec: Row) -> bool:
    """Whether a score is the best there is; never, where no bound says what that is."""
    best = spec["low"] if spec["higher_is_better"] is False else spec["high"]
    return bool(best is not None and value == best)


def _counts(generation: Row) -> Row:
    counts: Row = {}
    given, written = generation.get("input_tokens"), generation.get("output_tokens")
    if given is not None and written is not None:
        counts["token_usage"] = {"input_tokens": given, "output_tokens": written, "total_tokens": given + written}
    if generation.get("latency") is not None and generation["latency"] >= 0:
        counts["performance"] = {"latency_ms": generation["latency"] * 1000}
    return counts


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
