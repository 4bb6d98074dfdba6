"""Files side by side of which only their names can tell what each is, and do not say
it: what they may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.importers.tabular.drafts.paths import NamedByPaths, in_paths
from warehouse.importers.tabular.drafts.toml import safe, toml_text

#: By what the files are if the first reading holds: what they have in common.
_COMMON = {
    "model": "hold the same prompts",
    "benchmark": "state figures of the same models",
    "judged model": "lie under names of models, and hold rows of others",
}
#: By the same, the readings: what each is in words, and how a mapping says it below
#: ``files`` and ``[path]``, whose group is called as the last part of the word says.
_READINGS = {
    "model": (
        ("models, by the names of files or folders", "model", ""),
        (
            "runs of one model, a figure each",
            "file",
            '[run.configuration] file = { group = "file" }',
        ),
        ("generations of one model, pooled", "", ""),
    ),
    "benchmark": (
        ("benchmarks, by the names of files or folders", "benchmark", ""),
        (
            "parts, ways to ask or times of one benchmark",
            "file",
            '[run.configuration] file = { group = "file" }',
        ),
        (
            "prompts, a file each",
            "file",
            '[sample] prompt_id = { group = "file" }, and [[scores]] for [[published]]',
        ),
    ),
    "judged model": (
        (
            "models, by the names of files or folders, and the column says who judged",
            "model",
            "[scorer] judge_model = COLUMN, without [run] model",
        ),
        (
            "runs of the models that the column names",
            "file",
            '[run.configuration] file = { group = "file" }',
        ),
    ),
}


@dataclass(frozen=True)
class UnnamedFiles:
    """Files of which the names do not say what each is."""

    kind: str  #: ``model``, ``benchmark`` or ``judged model``: the first reading.
    named: NamedByPaths  #: what tells them apart, and where it stands.

    @property
    def _shown(self) -> str:
        return ", ".join(map(safe, self.named.names[:3]))

    @property
    def question(self) -> str:
        """What the files are, with its readings."""
        readings = [
            f"({number}) {words}"
            for number, (words, _, _) in enumerate(_READINGS[self.kind], 1)
        ]
        return (
            f"what the files are, which {_COMMON[self.kind]} ({self._shown}): "
            f"{'; '.join(readings)}"
        )

    def lines(self) -> Iterator[str]:
        """The readings as comments of a mapping."""
        yield f"# files beside this one {_COMMON[self.kind]}: {self._shown}. They are"
        for words, group, further in _READINGS[self.kind]:
            yield f"#   {words}: files = [{toml_text(self.named.glob)}]"
            if group:
                pattern = self.named.pattern.replace(
                    f"<{self.named.field}>", f"<{group}>"
                )
                yield f"#     [path] pattern = '{pattern}'"
            if further:
                yield f"#     {further}"
        yield ""


def unnamed_files(kind: str, path: Path, others: Sequence[Path]) -> UnnamedFiles | None:
    """What files are left open by their names; None where there is one file.

    Args:
        kind: what they are if the first reading holds, a key of what they have in
            common.
    """
    named = in_paths(kind.rpartition(" ")[2], path, others)
    if named is None:
        return None
    return UnnamedFiles(kind, named)
