"""What the steps of loading many sources share, and what is looked at before the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from warehouse.errors import MisuseError
from warehouse.importers.common import source_context as context
from warehouse.ingest.discover import _Job, _Plan
from warehouse.ingest.executors import Apart
from warehouse.ingest.progress import Progress
from warehouse.ingest.tasks import Identity, Task
from warehouse.records import Dump, ImportSettings
from warehouse.store.connection import Store
from warehouse.store.load import source_ledger
from warehouse.store.load.loader import Loader
from warehouse.store.load.state import LoadReport


class Work:
    """What the steps of loading many sources share."""

    def __init__(
        self,
        store: Store,
        loader: Loader,
        pool: ThreadPoolExecutor,
        plan: _Plan,
        dry_run: bool,
        watcher: Progress,
        apart: Apart | None,
    ) -> None:
        self.store, self.loader, self.pool, self.plan = store, loader, pool, plan
        self.dry_run, self.watcher, self.apart = dry_run, watcher, apart
        self.known = source_ledger.loaded(store)
        self.begun: set[tuple[str, str]] = set()  # what this ingest has claimed so far
        self.late: list[Task] = []
        self.reports: dict[int, LoadReport] = {}  # by number of the task

    def shown(self, text: str) -> str:
        """A text that may name files, as people are told it."""
        return self.plan.shown(text) if self.plan.shown else text

    def retell(self, dump: Dump) -> None:
        """Have what was said of a dump name its files as people know them."""
        if self.plan.shown:
            dump.rejections[:] = [replace(item, place=self.shown(item.place)) for item in dump.rejections]
            dump.notes[:] = map(self.plan.shown, dump.notes)

    def settings(self, identity: Identity) -> dict[str, Any]:
        """What a source is entered in the ledger with."""
        if not identity.context:
            return dict(self.plan.recorded)
        return {**self.plan.recorded, "context": identity.context}

    def key(self, job: _Job, settings: Mapping[str, Any]) -> str:
        """The settings under which a job is entered in the ledger."""
        return source_ledger.settings_key(job.importer.name, job.importer.version, settings)

    def loaded(self, job: _Job, identity: Identity) -> int | None:
        """Id of the source in the store that a job is the same as."""
        source_id = self.known.get((identity.sha256, self.key(job, self.settings(identity))))
        if source_id is None and identity.context:
            # entered before contexts were: the same if its path says so
            older = self.known.get((identity.sha256, self.key(job, self.plan.recorded)))
            if older is not None and context.says_same(
                job.importer, job.files, *source_ledger.paths_of(self.store, older), identity.context
            ):
                return older
        return source_id

    def entry(self, job: _Job, identity: Identity) -> source_ledger.Entry:
        """What a job is entered in the ledger with."""
        return source_ledger.Entry(
            path=job.files.name,
            size=job.size,
            sha256=identity.sha256,
            importer=job.importer.name,
            version=job.importer.version,
            settings=self.settings(identity),
        )


def checked(work: Work, incoming: Iterable[Task]) -> Iterable[Task]:
    """The tasks as they come; all are looked at first where a value could rename models.

    Raises:
        MisuseError: the runs of several models would be filed as one.
    """
    plan = work.plan
    wanted = plan.settings.values.get("model")
    if wanted is None or plan.may_rename:
        return incoming
    tasks = list(incoming)
    named: dict[str, str] = {}
    for task in tasks:
        job, identity = task.job, task.identity
        if isinstance(identity, Identity) and work.loaded(job, identity) is None:
            for model in _models_named(job, plan.settings):
                named.setdefault(model, job.files.name)
    named.pop(str(wanted), None)
    if len(named) > 1:
        shown = ", ".join(f"{model} in {source}" for model, source in list(named.items())[:3])
        raise MisuseError(
            f"--set model={wanted} would file {len(named)} models that have names as one: {shown}"
            f"{', …' if len(named) > 3 else ''}; --default model={wanted} names only what lacks a "
            "name, --force files all of them so"
        )
    return tasks


def _models_named(job: _Job, settings: ImportSettings) -> set[str]:
    """The models that a source itself names; none where it cannot be read."""
    bare = replace(
        settings,
        values={name: value for name, value in settings.values.items() if name != "model"},
        defaults={name: value for name, value in settings.defaults.items() if name != "model"},
    )
    try:
        dump = job.importer.read(job.files, bare)
    except Exception:  # whatever it is: loading it will say so, and it may only lack the name
        return set()
    dump.close()
    return {header.model for header in dump.runs if header.model}
