"""Importer of run folders of Stanford HELM."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.common.json_fields import text_or_none
from warehouse.importers.common.model_names import disagreement, same_model
from warehouse.importers.helm.header import headers
from warehouse.importers.helm.rows import batches
from warehouse.importers.helm.run_folder import HelmRun
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles

#: Files of a run folder that are read; the first must be there, and one of those after it.
FILES = ("run_spec.json", "scenario_state.json", "per_instance_stats.json", "stats.json", "scenario.json")
_MODEL_IN_NAME = re.compile(r"[:,-]model=([^,]+)")


class Helm:
    """A folder with ``run_spec.json`` and what belongs to it; one run for each split."""

    name = "helm"
    version = "2"
    folders = 3

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each run folder is a source. Files that only repeat it for display are left alone."""
        folders = defaultdict[Path, dict[str, Path]](dict)
        for item in candidates:
            if item.path.name in FILES:
                folders[item.path.parent][item.path.name] = item.path
        for folder, paths in folders.items():
            if FILES[0] in paths and any(name in paths for name in FILES[1:4]):
                files = tuple(paths[name] for name in FILES if name in paths)
                yield SourceFiles(str(folder), folder, files)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one run folder.

        Raises:
            InputError: a file is damaged, or nothing names the model.
        """
        run = HelmRun(source.root, source.files)
        if not run.spec.get("adapter_spec"):
            raise InputError(
                "there is no 'adapter_spec'", path=str(source.files[0]), expected="the specification of a HELM run"
            )
        run.notes += _other_name(run, source.root)
        stated = text_or_none(settings.stated.get("model"))
        return Dump(tuple(headers(run, stated, source.name)), batches(run), rejections=run.rejections, notes=run.notes)


def _other_name(run: HelmRun, folder: Path) -> Iterator[str]:
    """A note where the folder, ``SCENARIO:...,model=NAME``, names another model."""
    model = text_or_none(run.adapter.get("model"))
    known = (model, text_or_none(run.adapter.get("model_deployment")))
    named = _MODEL_IN_NAME.search(folder.name)
    if model and named and not any(same_model(named[1], name) for name in known if name):
        yield disagreement(model, "the folder", named[1])


IMPORTER = Helm()
