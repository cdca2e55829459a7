"""The options of strategies, as a strategy reads them."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

Context = Literal["auto", "grow", "fresh"]
"""What the agent loop keeps in view."""


class StrategyOptions(BaseModel):
    """Options of a strategy, apart from its limits, with their usual values.

    Each is a setting of the same name (`harness.run.settings.mode_settings`).

    Attributes:
        stop_on_pass: whether the agent loop ends once the public tests have passed.
        repair_rounds: rounds of `self_repair` and `reflexion`, and of each plan of `map_coder`.
        best_of: number of single shots of `best_of_k_public`, and of solutions of `codet`.
        test_answers: number of answers with tests of `codet`.
        plans: number of plans of `map_coder`.
        show_budget: whether each message's last tool result states the remaining budget.
        context: what the loop keeps in view: one conversation that grows, or a fresh one for each
            program that failed; `auto` is the better one as measured, by protocol.
        repeats: programs written before, after which the loop begins anew.
        check_turns: most turns in which the model checks a program that passes the public tests.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    stop_on_pass: bool = True
    repair_rounds: int = 1
    best_of: int = 5
    test_answers: int = 1
    plans: int = 3
    show_budget: bool = False
    context: Context = "auto"
    repeats: int = 1
    check_turns: int = 0

    @classmethod
    def of(cls, settings: object) -> Self:
        """Return the options of a run's or an episode's settings; None stands for the usual."""
        given = {key: getattr(settings, key) for key in cls.model_fields}
        return cls(**{key: value for key, value in given.items() if value is not None})
