"""Tables, with or without a mapping."""

from warehouse.importers.tabular.importer import IMPORTER as IMPORTER
