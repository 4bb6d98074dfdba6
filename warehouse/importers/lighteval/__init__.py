"""lighteval results and details."""

from warehouse.importers.lighteval.importer import IMPORTER as IMPORTER
