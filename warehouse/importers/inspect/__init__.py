"""Inspect logs."""

from warehouse.importers.inspect.importer import IMPORTER as IMPORTER
