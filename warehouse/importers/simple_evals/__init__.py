"""simple-evals reports."""

from warehouse.importers.simple_evals.importer import IMPORTER as IMPORTER
