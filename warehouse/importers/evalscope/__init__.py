"""Work folders of EvalScope."""

from warehouse.importers.evalscope.importer import IMPORTER as IMPORTER
