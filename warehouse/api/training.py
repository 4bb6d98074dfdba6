"""What training runs say: seeds, checkpoints, and whether a difference of two recipes is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.question import Gives, method
from warehouse.questions.training import Curves, Decide, Recipes, Seeds

if TYPE_CHECKING:  # named in strings
    from warehouse.analysis.training.curve_rows import CurvesReport  # noqa: F401
    from warehouse.analysis.training.decide import Decisions  # noqa: F401
    from warehouse.analysis.training.recipes import RecipesReport  # noqa: F401
    from warehouse.analysis.training.seeds import SeedsReport  # noqa: F401


class TrainingMethods(Connection):
    """Seeds and checkpoints of recipes, and decisions between them.

    A reference of a model is ``MODEL[@REVISION|@step=N]`` or ``run:ID``.
    """

    seeds = method(Seeds, Gives["SeedsReport"])
    curves = method(Curves, Gives["CurvesReport"])
    decide = method(Decide, Gives["Decisions"])
    recipes = method(Recipes, Gives["RecipesReport"])
