"""A model that answers with the reference solutions of problems."""

from collections.abc import Sequence

from harness.errors import DataError
from harness.languages import PYTHON, known
from harness.models.protocol import ModelError, ModelTurn
from harness.models.providers import REFERENCES
from harness.models.scripted import ScriptedModel
from harness.models.unasked import UnaskedModel
from harness.problem import Problem, ProblemView
from harness.text import fenced


class ReferenceModel(UnaskedModel):
    """Answers sample i with the problem's i-th reference in a language, in a cycle."""

    def __init__(self) -> None:
        super().__init__(REFERENCES)
        self._language = PYTHON
        self._problems: dict[str, Problem] = {}

    def begin(self, problems: Sequence[Problem], language: str) -> None:
        """Note the problems of a run, and the language of its solutions."""
        self._language = language
        self._problems = {problem.id: problem for problem in problems}

    def for_sample(self, problem: ProblemView, index: int) -> ScriptedModel:
        """Return a model that answers with that reference, and holds no other."""
        try:
            programs = self._problems[problem.id].programs(self._language)
        except DataError as error:
            return ScriptedModel([ModelError(str(error))], name=self.name)
        if not programs:
            title = known.language(self._language).title
            lacking = ModelError(f"the problem has no reference solution in {title}")
            return ScriptedModel([lacking], name=self.name)
        code = f"{fenced(programs[index % len(programs)], self._language)}\n"
        return ScriptedModel([code], name=self.name)

    async def answer(self) -> ModelTurn:
        """Return an empty turn, as the problem is not known."""
        return ModelTurn()
