import pytest

from harness.models.protocol import ModelError, ModelSettings, ModelStop, ModelTurn
from harness.models.replay import ReplayModel
from harness.problem import ProblemView

STOP = ModelStop(reason="end_turn")
FIRST, SECOND = ModelTurn(text="one", stop=STOP), ModelTurn(text="two", stop=STOP)
NOTHING = ((), (), ModelSettings())


async def test_a_sample_hears_its_own_turns_in_order(twice: ProblemView) -> None:
    model = ReplayModel("replay", {("made/twice", 0): [FIRST, SECOND], ("made/twice", 1): [SECOND]})
    zero, one = model.for_sample(twice, 0), model.for_sample(twice, 1)
    assert await zero.generate(*NOTHING) is FIRST
    assert await one.generate(*NOTHING) is SECOND
    assert await zero.generate(*NOTHING) is SECOND
    assert (zero.name, model.name) == ("replay", "replay")


async def test_each_tape_starts_at_its_beginning(twice: ProblemView) -> None:
    model = ReplayModel("replay", {("made/twice", 0): [FIRST]})
    for _ in range(2):
        assert await model.for_sample(twice, 0).generate(*NOTHING) is FIRST


async def test_a_tape_that_ran_out_says_so(twice: ProblemView) -> None:
    tape = ReplayModel("replay", {("made/twice", 0): [FIRST]}).for_sample(twice, 0)
    await tape.generate(*NOTHING)
    with pytest.raises(ModelError, match="sample 0 of made/twice ends after 1 turns"):
        await tape.generate(*NOTHING)


async def test_a_sample_without_a_recording_says_so(twice: ProblemView) -> None:
    tape = ReplayModel("replay", {("made/twice", 0): [FIRST]}).for_sample(twice, 4)
    with pytest.raises(ModelError, match="no recording of sample 4 of made/twice"):
        await tape.generate(*NOTHING)
    await tape.close()


async def test_a_recording_answers_for_samples_alone() -> None:
    model = ReplayModel("replay", {})
    with pytest.raises(ModelError, match="for_sample"):
        await model.generate(*NOTHING)
    await model.close()
