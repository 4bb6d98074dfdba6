"""lmms-eval: results and samples of tasks with images, video and sound."""

from warehouse.importers.lmms_eval.importer import IMPORTER as IMPORTER
