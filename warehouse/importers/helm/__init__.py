"""HELM run folders."""

from warehouse.importers.helm.importer import IMPORTER as IMPORTER
