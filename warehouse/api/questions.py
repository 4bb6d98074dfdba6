"""Methods that ask questions: all that the registry has, and those that stand beside
them.

Type checkers and editors read ``questions.pyi``, which ``python -m
tests.support.method_stub`` makes of the same questions.
"""

from __future__ import annotations

from warehouse.api.connection import Connection
from warehouse.questions.asked_by_methods import questions_of_methods
from warehouse.questions.methods import method_of


class QuestionMethods(Connection):
    """Ask what runs score, how they differ, what prompts tell, and how sure all that is.

    A reference of a model is ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
    """


for _name, _question in questions_of_methods().items():
    setattr(QuestionMethods, _name, method_of(_question))
