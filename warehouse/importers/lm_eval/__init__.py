"""lm-evaluation-harness."""

from warehouse.importers.lm_eval.importer import IMPORTER as IMPORTER
