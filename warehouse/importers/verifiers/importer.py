"""Importer of runs of verifiers: rollouts with their metadata (up to 0.3), episodes
(since)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from warehouse.importers.common.jsonl import has_keys, head_of, read_document
from warehouse.importers.verifiers.episodes import is_episode, read_episodes
from warehouse.importers.verifiers.rollouts import read_rollouts
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles

ROWS, METADATA = "results.jsonl", "metadata.json"
CONFIGS = ("configs/resolved/eval.json", "configs/eval.json", "config.toml")


class Verifiers:
    """One run for each folder of rollouts; of episodes one for each agent, model and
    checkpoint."""

    name = "verifiers"
    # 4: all that metadata and agents were configured with are settings; 5: exact copies
    # of rollouts are left out
    version = "5"
    folders = 3

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Rows, recognised by their keys, with their metadata; metadata also where its
        folder has no rows."""
        found = {item.path: item for item in candidates}
        for item in candidates:
            head = head_of(item)
            if is_episode(head):
                configs = [item.path.parent / name for name in CONFIGS]
                config = [path for path in configs if path in found][:1]
                yield SourceFiles(
                    str(item.path.parent), item.path.parent, (item.path, *config)
                )
            elif _is_metadata(item.path, head):
                rows = item.path.with_name(ROWS)
                files = (rows, item.path) if rows in found else (item.path,)
                yield SourceFiles(str(item.path.parent), item.path.parent, files)
            elif _is_rollout(head) and not _has_metadata(item.path, found):
                yield SourceFiles(str(item.path), item.path.parent, (item.path,))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one run (InputError: a file is damaged, or nothing names the model)."""
        declared = settings.model
        first = source.files[0]
        metadata = next((path for path in source.files if path.name == METADATA), None)
        if metadata is None and _starts_with_episode(first):
            return read_episodes(first, source.files[1:], declared)
        rows = None
        if first != metadata:
            rows = first
        if metadata:
            document = read_document(metadata)
        else:
            document = {}
        return read_rollouts(rows, document, first.parent, declared)


IMPORTER = Verifiers()


def _is_metadata(path: Path, head: str) -> bool:
    named = has_keys(head, "env_id") or has_keys(head, "env")
    return (
        path.name == METADATA
        and named
        and has_keys(head, "model", "num_examples", "rollouts_per_example")
    )


def _is_rollout(head: str) -> bool:
    line = head.partition("\n")[0]
    has_id = has_keys(line, "example_id") or has_keys(line, "id")
    return (
        line.startswith("{")
        and has_id
        and has_keys(line, "prompt", "completion", "reward")
    )


def _has_metadata(path: Path, found: dict[Path, Candidate]) -> bool:
    metadata = found.get(path.with_name(METADATA))
    return (
        path.name == ROWS
        and metadata is not None
        and _is_metadata(metadata.path, head_of(metadata))
    )


def _starts_with_episode(path: Path) -> bool:
    with path.open("rb") as handle:
        return is_episode(head_of(Candidate(path, handle.read(65_536), 0)))
