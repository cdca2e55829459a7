"""Lone surrogates, which UTF-8 cannot hold, from strategies, tools and models of the user."""

import json
from pathlib import Path

import pytest
from program import harness, results

HALF = "\\ud83d"  # in the source of the user's module, and as the text that stands for it

OWN = f"""
from harness.agent.attempt import (Attempt, ChosenBy, StopReason)
from harness.agent.session import BudgetSpentError
from harness.agent.conversation import Conversation
from harness.models.protocol import ModelError, ModelTurn, UserMessage

HALF = "{HALF}"
ANSWER = f"```python\\nprint(1)  # {{HALF}}\\n```"

def attempt(**facts):
    return Attempt(**{{"chosen_by": ChosenBy.ANSWER, "stop_reason": StopReason.SUBMITTED, **facts}})

async def returns_it(session):
    return attempt(code=f"print(1)  # {{HALF}}")

async def says_it(session):
    conversation = Conversation(session)
    conversation.add(UserMessage(content=HALF))
    await conversation.ask()
    return attempt(code="print(1)")

async def tests_it(session):
    session.workspace.write(f"print(1)  # {{HALF}}")
    await Conversation(session).run_public_tests()
    raise BudgetSpentError(StopReason.TURN_LIMIT)

async def fails_with_it(session):
    return attempt(code="", stop_reason=StopReason.MODEL_ERROR, error=f"no {{HALF}}")

class Thinks:
    name = "thinks"
    def for_sample(self, problem, index):
        return self
    async def generate(self, messages, tools, settings, on_retry=None):
        return ModelTurn(text=ANSWER, reasoning=({{HALF: [HALF]}},), request_id=HALF)
    async def close(self):
        pass

class Fails(Thinks):
    async def generate(self, messages, tools, settings, on_retry=None):
        raise ModelError(f"no {{HALF}}")

def solve(problem):
    return ANSWER
"""


@pytest.fixture
def half_characters(tmp_path: Path) -> Path:
    tests = [{"input": "", "output": "1", "public": public} for public in (True, False)]
    row = {"id": "one", "statement": "Print 1.", "tests": tests}
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


@pytest.mark.parametrize(
    ("mode", "model", "code"),
    [
        ("own:returns_it", "own:solve", f"print(1)  # {HALF}"),
        ("own:says_it", "own:solve", "print(1)"),
        ("own:tests_it", "own:solve", f"print(1)  # {HALF}"),
        ("own:fails_with_it", "own:solve", None),
        ("single_shot", "own:Thinks", f"print(1)  # {HALF}"),
        ("single_shot", "own:Fails", None),
    ],
)
def test_a_lone_surrogate_of_own_code_is_escaped_and_ends_no_run(
    half_characters: Path, mode: str, model: str, code: str | None
) -> None:
    given = ("-b", "jsonl:p.jsonl", "-m", f"python:{model}", "--mode", mode, "--out", "r")
    done = harness(half_characters, "run", *given)
    if code is None:
        assert (done.returncode, f"because: no {HALF}" in done.stderr) == (4, True), done.stderr
    else:
        assert done.returncode == 0, done.stderr
        (result,) = results(half_characters / "r")
        assert result["code"].strip() == code
        assert result["verdict"] == "accepted"
    shown = harness(half_characters, "transcript", "r", "jsonl/one")
    assert shown.returncode == 0, shown.stderr
    assert "Traceback" not in done.stderr + shown.stderr
