"""The proof that an importer drops no setting: each leaf of what a dump says of its runs
is changed, and has to be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from warehouse.ingest.discover import Discovered
from warehouse.records import Dump
from warehouse.testing.changed_files import files_of
from warehouse.testing.findings import Findings
from warehouse.testing.setting_leaves import DOCUMENTS, Document, Leaves

#: Name of the trial.
WHAT = "settings"
#: Bytes of a document of which each leaf is tried.
_MOST_BYTES = 1 << 20
#: Files and leaves that are named of many.
_MOST_NAMED = 3


@dataclass
class SettingsProof:
    """Tries every leaf of the documents of a copy of a dump, which may be written to."""

    findings: Findings
    folder: Path  #: the copy: a folder, or a file alone.
    discover: Callable[[], Discovered]  #: its sources, with their importers.
    configuration: Sequence[
        str
    ]  #: patterns of names of documents; empty: all without samples.
    outcomes: str  #: pattern of places in them that are no settings.
    leaves: Leaves = field(init=False)
    seen: str = field(init=False)  #: what is read of the dump as it stands,
    rows: str = field(init=False)  #: and of its samples, votes and scans.

    def __post_init__(self) -> None:
        harnesses = [header.harness for dump in self._read() for header in dump.runs]
        harness = self.discover().jobs[0].importer.name
        if harnesses:
            harness = harnesses[0]
        self.leaves = Leaves(self._read, harness, (), self.outcomes)
        self.seen, self.rows = self.leaves.seen(), self.leaves.rows()

    def try_all(self) -> None:
        """Change each document that says how runs were made, leaf by leaf."""
        documents, untried = self._documents()
        if self.configuration and not documents:
            named = ", ".join(self.configuration)
            self.findings.expect(False, WHAT, f"no file of the dump is called {named}")
        for path in documents:
            if not self._try_document(path):
                untried.append(self._name(path))
        if untried:
            self.findings.leave_out(
                f"settings in {_some(untried)}: tried are JSON, TOML and YAML of sources "
                "without samples, and files that configuration= names"
            )

    def _documents(self) -> tuple[list[Path], list[str]]:
        """Files to be tried, and names of those of the sources that are not."""
        files = files_of(self.folder)
        if self.configuration:
            return [path for path in files if self._is_named(path)], []
        of_sources = {path for job in self.discover().jobs for path in job.files.files}
        documents: list[Path] = []
        others: list[str] = []
        for path in files:
            is_small = path.stat().st_size <= _MOST_BYTES
            if path in of_sources and path.suffix in DOCUMENTS and is_small:
                documents.append(path)
            else:
                others.append(self._name(path))
        return documents, others

    def _is_named(self, path: Path) -> bool:
        name = self._name(path)
        return any(fnmatch(name, pattern) for pattern in self.configuration)

    def _name(self, path: Path) -> str:
        """A file by its place in the dump."""
        if path == self.folder:
            return path.name
        return str(path.relative_to(self.folder))

    def _try_document(self, path: Path) -> bool:
        """Change a document leaf by leaf; False where it is no such document."""
        try:
            document = Document.of(path)
        except ValueError:
            return False
        document.write(document.value)
        is_read = self.leaves.seen() == self.seen
        document.restore()
        if not is_read:
            self.findings.leave_out(
                f"settings in {self._name(path)}: written anew, it is read otherwise"
            )
            return True
        seen: list[str] = []
        dropped: list[str] = []
        failed: list[str] = []
        for leaf in self.leaves.changes(path):
            try:
                if self.leaves.seen() != self.seen:
                    seen.append(leaf)
                elif self._is_of_a_sample():
                    return False
                else:
                    dropped.append(leaf)
            except Exception as error:
                failed.append(f"{leaf}, changed: {type(error).__name__}: {error}")
        for _ in seen:
            self.findings.expect(True, WHAT, "")
        for wrong in failed:
            self.findings.expect(False, WHAT, f"{self._name(path)}: {wrong}")
        if dropped:
            self._say_dropped(path, dropped)
        return True

    def _say_dropped(self, path: Path, leaves: Sequence[str]) -> None:
        self.findings.expect(
            False,
            WHAT,
            f"{self._name(path)}: nothing changes with {_some(leaves)}: runs that differ "
            "in it would be pooled; take it into RunHeader.configuration, or name it in "
            "outcomes= where it does not say how a run was made",
        )

    def _is_of_a_sample(self) -> bool:
        """Whether the leaf that is changed now is one of a row: then its file holds
        samples, unless it was named."""
        return not self.configuration and self.leaves.rows() != self.rows

    def _read(self) -> Iterator[Dump]:
        found = self.discover()
        for job in found.jobs:
            dump = job.importer.read(job.files, found.plan.settings)
            yield dump
            dump.close()


def _some(names: Sequence[str]) -> str:
    """The first names, and how many there are more."""
    more = ""
    if len(names) > _MOST_NAMED:
        more = f" and {len(names) - _MOST_NAMED} more"
    return ", ".join(names[:_MOST_NAMED]) + more
