"""A run folder of HELM: its files, read and looked through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.inspect_sample import part_of
from warehouse.importers.lm_eval_rows import compact
from warehouse.records import Rejection, parse_json

#: What makes one row of HELM: instance, perturbation (as JSON), draw of few-shot examples.
Key = tuple[str, str, int]

#: Fields of a perturbation that say what it is for, not what it does.
_PURPOSE = frozenset(("name", "robustness", "fairness", "computed_on", "name_aliases"))

#: Statistics about the request, not about the answer.
BOOKKEEPING = frozenset(
    """
    batch_size inference_denoised_runtime inference_idealized_runtime inference_runtime logprob
    max_prob num_bytes num_completion_tokens num_completions num_instances num_output_tokens
    num_perplexity_tokens num_prompt_tokens num_references num_train_instances num_train_trials
    predicted_index prompt_truncated training_co2_cost training_energy_cost
    """.split()
)
#: Figures that are made of bookkeeping.
_DERIVED = frozenset(("bits_per_byte", "logprob_per_byte", "perplexity"))


def is_score(name: str) -> bool:
    """Whether a statistic says how good an answer is."""
    return name not in BOOKKEEPING and not name.startswith("finish_reason_")


@dataclass
class HelmRun:
    """One run folder.

    Raises:
        InputError: a file is damaged, or of another kind.
    """

    folder: Path
    files: tuple[Path, ...]
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """``run_spec.json``."""
        return self._object("run_spec.json")

    @cached_property
    def adapter(self) -> dict[str, Any]:
        """How instances become requests."""
        return part_of(self.spec, "adapter_spec") or part_of(self._state, "adapter_spec")

    @cached_property
    def name(self) -> str:
        """The run's own name, else the folder's."""
        stated = self.spec.get("name")
        return stated if isinstance(stated, str) and stated else self.folder.name

    @property
    def run_id(self) -> str:
        """Suite and name."""
        in_suite = self.folder.parent.parent.name == "runs"
        return f"{self.folder.parent.name}/{self.name}" if in_suite else self.name

    @cached_property
    def requests(self) -> dict[Key, list[dict[str, Any]]]:
        """Request states, those of one row together, in the order of the file."""
        found: dict[Key, list[dict[str, Any]]] = {}
        states = self._state.get("request_states")
        for place, state in enumerate(states if isinstance(states, list) else ()):
            instance = part_of(state, "instance") if isinstance(state, dict) else {}
            key = self._key(instance.get("id"), instance.get("perturbation"), state,
                            f"scenario_state.json request {place}")  # fmt: skip
            if key is not None:
                found.setdefault(key, []).append(state)
        return found

    @cached_property
    def statistics(self) -> dict[Key, dict[str, Any]]:
        """Statistics of each row by name; entries of one row are merged."""
        found: dict[Key, dict[str, Any]] = {}
        for place, entry in enumerate(self._list("per_instance_stats.json")):
            own = entry if isinstance(entry, dict) else {}
            key = self._key(own.get("instance_id"), own.get("perturbation"), own,
                            f"per_instance_stats.json entry {place}")  # fmt: skip
            if key is not None:
                merged = found.setdefault(key, {})
                merged.update((name, stat) for name, _, stat in _named(own.get("stats")))
        return found

    @cached_property
    def aggregates(self) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Name, naming object and content of each statistic of ``stats.json``."""
        return list(_named(self._list("stats.json")))

    @cached_property
    def originals(self) -> dict[str, dict[str, Any]]:
        """Each instance as it was before any perturbation, else as it first stands there."""
        plain: dict[str, dict[str, Any]] = {}
        other: dict[str, dict[str, Any]] = {}
        for (number, perturbation, _), states in self.requests.items():
            (other if perturbation else plain).setdefault(number, part_of(states[0], "instance"))
        return {**other, **plain}

    @cached_property
    def splits(self) -> list[str]:
        """The splits that the run covers, in order of appearance."""
        found = [self.split_of(key) for key in (*self.requests, *self.statistics)]
        published = [str(naming.get("split") or "") for _, naming, _ in self.aggregates]
        return list(dict.fromkeys(found)) or list(dict.fromkeys(published)) or [""]

    def split_of(self, key: Key) -> str:
        """The split of a row."""
        instance = self.originals.get(key[0])
        if instance is not None:
            return str(instance.get("split") or "")
        stats = self.statistics.get(key, {}).values()
        named = (part_of(stat, "name").get("split") for stat in stats)
        return next((str(split) for split in named if split), "")

    def has(self, name: str) -> bool:
        """Whether the folder has a file."""
        return any(path.name == name for path in self.files)

    @cached_property
    def _state(self) -> dict[str, Any]:
        return self._object("scenario_state.json")

    def _key(self, number: Any, perturbation: Any, entry: Any, place: str) -> Key | None:
        trial = entry.get("train_trial_index", 0) if isinstance(entry, dict) else None
        if not isinstance(number, str) or type(trial) is not int or not 0 <= trial < 1 << 31:
            found = compact([number, trial])[:200]
            expected = "an instance with a text as id, and a train_trial_index"
            self.rejections.append(Rejection(place, found, expected))
            return None
        return number, compact(perturbation) if isinstance(perturbation, dict) else "", trial

    def _object(self, name: str) -> dict[str, Any]:
        found = self._document(name)
        return found if isinstance(found, dict) else {}

    def _list(self, name: str) -> list[Any]:
        found = self._document(name)
        return found if isinstance(found, list) else []

    def _document(self, name: str) -> Any:
        if not self.has(name):
            return None
        path = self.folder / name
        try:
            found = parse_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"cannot be read: {error}", path=str(path),
                             expected="complete JSON") from None  # fmt: skip
        wanted = list if name in ("per_instance_stats.json", "stats.json") else dict
        if not isinstance(found, wanted):
            raise InputError(f"a {type(found).__name__} stands here", path=str(path),
                             expected=f"a {wanted.__name__}, as HELM writes it")  # fmt: skip
        return found


def perturbation_label(stated: Any) -> str:
    """A perturbation as the store calls it: name with parameters; empty for none.

    >>> perturbation_label({"name": "extra_space", "computed_on": "perturbed", "num_spaces": 2})
    'extra_space(num_spaces=2)'
    """
    if not isinstance(stated, dict) or not stated:
        return ""
    parameters = ",".join(
        f"{key}={value if isinstance(value, str) else compact(value)}"
        for key, value in sorted(stated.items())
        if key not in _PURPOSE and value is not None
    )
    name = str(stated.get("name") or "perturbation")
    return f"{name}({parameters})" if parameters else name


def is_derived(name: str) -> bool:
    """Whether an aggregate is a figure of likelihoods, which no row has."""
    return name in _DERIVED


def _named(stats: Any) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for stat in stats if isinstance(stats, list) else ():
        naming = part_of(stat, "name") if isinstance(stat, dict) else {}
        name = naming.get("name")
        if isinstance(name, str) and name:
            yield name, naming, stat


def value_of(stat: Mapping[str, Any]) -> float | None:
    """The mean of a statistic; none where nothing was counted."""
    mean, count = stat.get("mean"), stat.get("count")
    if isinstance(mean, bool) or not isinstance(mean, (int, float)):
        return None
    return float(mean) if count != 0 else None
