"""Source of a user's own model, which has the methods of a `Model`."""

CLASS = """
from harness.models.protocol import ModelStop, ModelTurn
from harness.models.scripted import UnaskedModel


class Answering(UnaskedModel):
    def __init__(self, name, *texts):
        super().__init__(name)
        self.texts, self.turn = texts, 0

    def for_sample(self, problem, index):
        return self

    async def generate(self, messages, tools, settings, on_retry=None):
        text = self.texts[self.turn % len(self.texts)]
        self.turn += 1
        return ModelTurn(text=text, stop=ModelStop(reason="end_turn"))
"""


def answering(**texts: str | list[str]) -> str:
    """Return a module with a model for each name, which gives its texts in turn."""
    models = (
        f"{name} = Answering({name!r}, *{[answers] if isinstance(answers, str) else answers!r})\n"
        for name, answers in texts.items()
    )
    return CLASS + "".join(models)
