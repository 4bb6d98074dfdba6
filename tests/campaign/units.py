"""What is mutated: sources of the repository's fixtures and of the real dumps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.ingest.discover import _jobs, _plan
from warehouse.store.load.state import LoadOptions

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "data"
MAPPINGS = ROOT / "docs" / "mappings"

LARGEST = 1_000_000  # bytes of a file that is mutated
LARGEST_SOURCE = 3_000_000

#: (corpus below the real dumps, mapping)
TABULAR = (
    ("pythia/evals/csv", "pythia_term_frequency"),
    ("pythia/polypythias", "pythia_training_maps"),
    ("reasoning_gym", "reasoning_gym"),
    ("reasoning_gym", "reasoning_gym_checkpoints"),
    ("reasoning_gym", "reasoning_gym_generalisation"),
    ("mmlu_pro", "mmlu_pro"),
    ("cruxeval_generations", "cruxeval"),
    ("eval_arena", "eval_arena"),
    ("gsm8k_openai", "gsm8k_openai"),
    ("bbq_unifiedqa", "bbq_unifiedqa"),
    ("terminal_bench", "terminal_bench"),
    ("hans_bert_100_seeds", "hans_accuracies"),
    ("hans_bert_100_seeds", "hans_counts"),
    ("scaling_laws", "scaling_laws_losses"),
    ("scaling_laws", "scaling_laws_evals"),
    ("hellaswag_loglik", "hellaswag_loglik"),
    ("eq_bench", "eq_bench"),
)
#: Corpora that need no mapping, with what their dumps do not say.
PLAIN: tuple[tuple[str, dict[str, str]], ...] = (
    ("inspect_logs", {}),
    ("helm_runs", {}),
    ("evalscope", {}),
    ("bfcl", {}),
    ("mteb", {}),
    ("aider", {}),
    ("tau2_bench", {}),
    ("metr_horizon", {}),
    ("writers", {}),
    ("lm_eval_logs", {}),
    ("lm_eval_logs/truthfulqa_gen", {"model": "unnamed"}),
    ("lm_eval_logs/write_out_v0_3", {"model": "meta-llama/Llama-2-13b-hf"}),
    ("pythia/evals/pythia-v1", {}),
    ("verifiers", {}),
    ("nemo_evaluator", {}),
    ("inspect_scout", {}),
    ("deepeval", {"benchmark": "sums"}),
    ("pydantic_evals", {"model": "scripted-1"}),
)


@dataclass(frozen=True)
class Unit:
    """One source: its files, the folder they are copied relative to, and how it is
    read."""

    group: str
    root: Path
    files: tuple[Path, ...]
    mapping: Path | None = None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def targets(self) -> list[Path]:
        """The files that may be mutated."""
        return [path for path in self.files if path.stat().st_size < LARGEST]


def units(data: Path | None) -> dict[str, list[Unit]]:
    """All sources, by group: a corpus, or an importer's fixtures."""
    found: dict[str, list[Unit]] = defaultdict(list)
    for unit in _all(data):
        if (
            unit.targets
            and sum(path.stat().st_size for path in unit.files) < LARGEST_SOURCE
        ):
            found[unit.group].append(unit)
    return dict(found)


def _all(data: Path | None) -> Iterator[Unit]:
    for folder in sorted(FIXTURES.iterdir()):
        mapping = folder / "long.toml"
        yield from _of(
            folder,
            f"fixtures/{folder.name}",
            mapping if mapping.exists() else None,
            {"model": "org/m"},
        )
    if data is None:
        return
    for name, values in PLAIN:
        yield from _of(data / name, name, None, values)
    for folder in sorted(data.parent.glob("cases/*/")):
        mapping = folder / "m.toml"
        yield from _of(
            folder, f"cases/{folder.name}", mapping if mapping.exists() else None, {}
        )
    for name, mapping_name in TABULAR:
        yield from _of(
            data / name, f"{name}:{mapping_name}", MAPPINGS / f"{mapping_name}.toml", {}
        )


def _of(
    root: Path, group: str, mapping: Path | None, values: dict[str, str]
) -> Iterator[Unit]:
    if not root.exists():
        return
    jobs, _ = _jobs([root], None, _plan(values, mapping, LoadOptions(), {}).settings)
    for job in jobs:
        yield Unit(group, root, tuple(job.files.files), mapping, dict(values))
