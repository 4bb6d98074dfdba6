"""OpenCompass results."""

from warehouse.importers.opencompass.importer import IMPORTER as IMPORTER
