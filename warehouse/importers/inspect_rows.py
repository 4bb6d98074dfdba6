"""Samples of an Inspect log as rows of the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from warehouse.importers.base import batch_of
from warehouse.importers.inspect_content import (
    content_of,
    messages_of,
    prompt_sent,
    response_of,
)
from warehouse.importers.inspect_log import Log, Sample
from warehouse.importers.inspect_metrics import Scoring
from warehouse.importers.inspect_scores import (
    Score,
    as_score,
    scores_of,
    state_of,
    stop_reason,
    values_of,
)
from warehouse.importers.lm_eval_metrics import number_or_none
from warehouse.importers.lm_eval_model import mapping_of, text_or_none
from warehouse.importers.lm_eval_rows import as_text, compact
from warehouse.records import Rejection

#: A batch ends at so many rows or so many characters of text.
BATCH_ROWS = 2000
BATCH_CHARACTERS = 8 << 20

_LARGEST = 1 << 63


@dataclass
class Reader:
    """Turns the samples of one log into rows of one run."""

    log: Log
    scoring: Scoring
    metrics: Sequence[str] = field(init=False)
    model: str = field(init=False)
    _places: dict[Any, int] = field(init=False)
    _prompts: dict[str, dict[str, Any]] = field(default_factory=dict)
    _n_edited: int = 0
    _n_invalid: int = 0

    def __post_init__(self) -> None:
        spec = mapping_of(self.log.header, "eval")
        listed = mapping_of(spec, "dataset").get("sample_ids")
        hashable = [item for item in listed if isinstance(item, (str, int))] if isinstance(
            listed, list) else []  # fmt: skip
        self._places = {item: place for place, item in enumerate(hashable)}
        self.metrics = self.scoring.metrics
        self.model = text_or_none(spec.get("model")) or ""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows: one for each sample, then those of all epochs of a prompt together."""
        try:
            yield from self._sample_batches()
            reduced = list(self._reduced())
            if reduced:
                yield batch_of(reduced)
        finally:
            self.log.close()
        self._note()

    def _sample_batches(self) -> Iterator[pa.RecordBatch]:
        held: list[dict[str, Any]] = []
        size = 0
        for sample in self.log.samples():
            row = self._row_or_none(sample)
            if row is None:
                continue
            held.append(row)
            size += len(row["prompt_sent"] or "") + len(row["response"] or "")
            if len(held) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
                yield batch_of(held)
                held, size = [], 0
        if held:
            yield batch_of(held)

    def _row_or_none(self, sample: Sample) -> dict[str, Any] | None:
        try:
            row = self.row(sample)
            compact(list(row.values()))  # lone surrogates and the like
            return row
        except (TypeError, ValueError, RecursionError) as error:
            place = f"sample {str(sample['id'])[:200]}, epoch {sample.get('epoch')}"
            expected = "values that JSON can hold"
            self.log.rejections.append(Rejection(place, str(error)[:300], expected))
            return None

    def row(self, sample: Sample) -> dict[str, Any]:
        """The row of one sample."""
        prompt = self._prompt(sample)
        usage, latency = self._usage(sample)
        scored = list(scores_of(sample).values())
        letters = _letters(sample)
        return {
            **prompt,
            "draw": _draw(sample),
            "prompt_sent": prompt_sent(sample),
            "response": response_of(sample),
            "extracted_answer": _answer(scored, letters),
            "finish_reason": _finish(sample),
            "input_tokens": _input_tokens(usage),
            "output_tokens": _count(usage.get("output_tokens")),
            "latency": latency,
            "cost": number_or_none(usage.get("total_cost")),
            "error": self._error(sample),
            "explanation": _explanation(scores_of(sample)),
            "scores": self._scores(sample),
        }

    def _prompt(self, sample: Sample) -> dict[str, Any]:
        letters = _letters(sample)
        target = _target(sample.get("target"), letters)
        number, name = sample["id"], str(sample["id"])
        content = content_of(sample.get("input"))
        metadata = mapping_of(sample, "metadata")
        prompt = {
            "run": 0,
            "position": self._places.setdefault(number, len(self._places)),
            "prompt_id": name,
            "identity": compact(
                {"input": content, "choices": sorted(letters.values()), "target": target}
            ),
            "text": _question(content),
            "target": target if isinstance(target, str) else compact(target),
            "choices": compact(list(letters.values())) if letters else None,
            "metadata": compact(metadata) if metadata else None,
        }
        if self.scoring.reducers:
            names = ("run", "position", "prompt_id", "identity")
            known = {"n": 0, **{key: prompt[key] for key in names}}
            self._prompts.setdefault(_key(number), known)["n"] += 1
        return prompt

    def _scores(self, sample: Sample) -> list[Score]:
        """What the sample was scored by; a metric of the log that it lacks is unscored."""
        state = state_of(sample)
        if sample.get("invalidation") is not None:
            self._n_invalid += 1
            return [_void(name, value) for name, value in self._values(sample)]
        self._n_edited += sum(bool(score.get("history")) for score in scores_of(sample).values())
        return [as_score(name, value, state) for name, value in self._values(sample)]

    def _values(self, sample: Sample) -> Iterator[tuple[str, Any]]:
        given = dict(values_of(sample, self.scoring.unnamed))
        for name in self.metrics:
            if name not in given and not any(other.startswith(f"{name}.") for other in given):
                given[name] = None
        # an object that is unscored as a whole stands for each of its keys
        objects = {name.rpartition(".")[0] for name in self.metrics} - set(self.metrics)
        yield from ((name, value) for name, value in given.items()
                    if value is not None or name not in objects)  # fmt: skip

    def _reduced(self) -> Iterator[dict[str, Any]]:
        """Values of all epochs of a prompt together, one row for each prompt and reducer."""
        for entry in self.log.reductions() if self._prompts else ():
            reducer = self.scoring.reducer(entry.get("reducer")) if isinstance(entry, dict) else ""
            if reducer:
                yield from self._reduced_rows(entry, reducer)

    def _reduced_rows(self, entry: Mapping[str, Any], reducer: str) -> Iterator[dict[str, Any]]:
        scorer = str(entry.get("scorer"))
        samples = entry.get("samples")
        for item in samples if isinstance(samples, list) else ():
            known = (
                self._prompts.get(_key(item.get("sample_id"))) if isinstance(item, dict) else None
            )
            if known is None:
                continue
            values = values_of({"scores": {scorer: item}}, self.scoring.unnamed)
            yield {
                **{key: value for key, value in known.items() if key != "n"},
                "draw": -1,
                "scores": [
                    as_score(name, value, filter=reducer) | {"n_draws": known["n"]}
                    for name, value in values
                ],
            }

    def _usage(self, sample: Sample) -> tuple[Mapping[str, Any], float | None]:
        """Tokens and seconds: of the one request if there was one, else of all of the model's."""
        output = mapping_of(sample, "output")
        used = mapping_of(sample, "model_usage")
        own = mapping_of(output, "usage")
        asked = sum(
            item.get("role") == "assistant" and item.get("source") != "input"
            for item in messages_of(sample)
        )
        if asked > 1 or not own:
            own = mapping_of(used, self.model) or (
                mapping_of(used, next(iter(used))) if len(used) == 1 else own
            )
        seconds = [output.get("time")] if asked == 1 else []
        seconds += [sample.get("working_time"), sample.get("total_time")]
        found = (number_or_none(value) for value in seconds)
        return own, next((value for value in found if value is not None), None)

    def _error(self, sample: Sample) -> str | None:
        if sample.get("invalidation") is not None:
            reason = text_or_none(mapping_of(sample, "invalidation").get("reason"))
            return f"invalidated: {reason}" if reason else "invalidated"
        error = sample.get("error")
        if error is None:
            return text_or_none(mapping_of(sample, "output").get("error"))
        return text_or_none(mapping_of(sample, "error").get("message")) or as_text(error)[:2000]

    def _note(self) -> None:
        if self._n_edited:
            self.log.notes.append(f"{self._n_edited} scores were edited after the run")
        if self._n_invalid:
            self.log.notes.append(f"{self._n_invalid} samples were invalidated: not scored")


def _key(number: Any) -> str:
    """A sample id as a key: 1 and "1" are two."""
    return compact(number)


def _void(metric: str, value: Any) -> Score:
    """A score that does not count any more."""
    return as_score(metric, None, "error") | {"raw": None if value is None else as_text(value)}


def _draw(sample: Sample) -> int:
    """The number of the epoch, from 0.

    Raises:
        ValueError: it has none.
    """
    epoch = sample.get("epoch", 1)
    if type(epoch) is not int or not 0 < epoch < 1 << 31:
        raise ValueError(f"epoch {str(epoch)[:60]} is no number from 1 on")
    return epoch - 1


def _letters(sample: Sample) -> dict[str, str]:
    """Text of each option by its letter: A to Z, then 1, 2 and so on."""
    options = sample.get("choices")
    if not isinstance(options, list):
        return {}
    return {_letter(place): as_text(option) for place, option in enumerate(options)}


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place - 25)


def _target(stated: Any, letters: Mapping[str, str]) -> str | list[str]:
    """The target with letters of options resolved; several are sorted."""
    if isinstance(stated, list):
        texts = [letters.get(as_text(item), as_text(item)) for item in stated]
        return texts[0] if len(texts) == 1 else sorted(texts)
    text = "" if stated is None else as_text(stated)
    return letters.get(text, text)


def _question(content: Any) -> str:
    """The question as text: a lone message without its role."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return as_text(content)
    spoken = [(str(item.get("role")), as_text(item.get("content", ""))) for item in content]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken)


def _answer(scored: Sequence[Mapping[str, Any]], letters: Mapping[str, str]) -> str | None:
    """The answer that the first scorer found; letters of options are resolved."""
    answers = (score.get("answer") for score in scored)
    answer = next((text for text in answers if isinstance(text, str)), None)
    if answer is None or not letters:
        return answer
    named = [part.strip() for part in answer.split(",")]
    if not named or any(part not in letters for part in named):
        return answer
    return letters[named[0]] if len(named) == 1 else compact([letters[part] for part in named])


def _explanation(scores: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What graders wrote; with their names where several did."""
    said: dict[str, str] = {}
    for name, score in scores.items():
        text = text_or_none(score.get("explanation"))
        reason = text_or_none(score.get("reason"))
        if text or reason:
            said[name] = ": ".join(part for part in (reason, text) if part)
    if len(set(said.values())) < 2:
        return next(iter(said.values()), None)
    return "\n\n".join(f"{name}: {text}" for name, text in said.items())


def _finish(sample: Sample) -> str | None:
    """Why it ended: a limit of the sample, else the model's own reason."""
    kind = text_or_none(mapping_of(sample, "limit").get("type"))
    return f"{kind}_limit" if kind else stop_reason(sample)


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens of the prompt. Where the total says that cached ones are not among the input, they
    are added."""
    plain = _count(usage.get("input_tokens"))
    if plain is None:
        return None
    cached = sum(_count(usage.get(f"input_tokens_cache_{kind}")) or 0 for kind in ("read", "write"))
    output, total = _count(usage.get("output_tokens")), _count(usage.get("total_tokens"))
    return plain if total == plain + (output or 0) else min(plain + cached, _LARGEST - 1)


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if whole and 0 <= value < _LARGEST else None
