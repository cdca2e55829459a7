"""What a model is sent in an evaluation and in an episode is the same, byte for byte."""

import json
import re
from typing import Any

import pytest
from chat_server import ChatServer, Json, Reply, completion, tool_call

import harness
from harness import Episode, Episodes, aevaluate

pytestmark = pytest.mark.usefixtures("kept_sandbox")

TASK = "quorum-signals"
READ, RUN = ("read_problem", {}), ("run_tests", {})
WRONG = ("write_solution", {"code": "print(3)\n"})
OTHER = ("write_solution", {"code": "print(4)\n"})
ODD = {"code": "print('\ud83d')\n# é\n"}  # half an emoji, as a cut answer has it
BLOCK = '```json\n{"name": "write_solution", "arguments": {"code": "print(3)"}}\n```'


def said(
    *calls: tuple[str, Any], text: str | None = None, reason: str | None = None, **more: Any
) -> dict[str, Any]:
    wire = [tool_call(name, given, f"id_{n}") for n, (name, given) in enumerate(calls)]
    return {"text": text, "calls": wire, "reason": reason, "more": more}


SCENARIOS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "words between calls": (
        [said(READ), said(text="I think."), said(WRONG, RUN, text="So:"), said(text="I give up.")],
        {},
    ),
    "the end of the turns": ([said(WRONG, RUN), said(OTHER, RUN), said(READ)], {"max_turns": 3}),
    "calls that cannot be understood": (
        [
            said(("write_solution", '{"code": '), ("fly", {}), ("run_tests", {"hard": True})),
            said(("write_solution", '"{\\"code\\": \\"print(3)\\"}"'), RUN),
            said(("write_solution", '{"code": "prin'), reason="length"),
            said(text="", reason="length"),
            said(text="```python\nprint(5)\n```"),
            said(text="No."),
            said(text="No more."),
        ],
        {},
    ),
    "the same solution again": ([said(WRONG, RUN)] * 3, {}),
    "all settings that are told": (
        [
            said(("run_code", {"code": "print(input())", "stdin": "7"})),
            said(WRONG, RUN),
            said(OTHER, RUN, READ),
            said(("submit", {})),
        ],
        {
            "show_budget": True,
            "run_code_tool": True,
            "submit_tool": True,
            "max_tool_calls": 5,
            "stop_on_pass": False,
        },
    ),
    "thoughts go back": (
        [said(READ, message={"reasoning_content": "Hm."}), said(WRONG, RUN), said(text="Done.")],
        {},
    ),
    "odd characters": (
        [said(("write_solution", ODD), RUN), said(text="Done \ud83d.")],
        {"context": "grow"},
    ),
    "calls in text, unasked": ([said(text=f"First:\n{BLOCK}"), said(RUN), said(text="x")], {}),
    "tools told in text": (
        [said(text=f"First:\n{BLOCK}"), said(text="What now?"), said(text="I give up.")],
        {"tool_protocol": "text", "context": "grow"},
    ),
    "a new conversation for each program": (
        [said(WRONG, RUN), said(OTHER, RUN), said(WRONG, RUN), said(READ)],
        {"context": "fresh", "max_turns": 5},
    ),
    "no tools at all": (
        [said(text="Hello."), said(text="Hello?"), said(text="Hm."), said(text="```\nprint(1)```")],
        {"context": "grow"},
    ),
}
QUICK = {"all settings that are told", "calls that cannot be understood", "tools told in text"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.thorough])
        for name in SCENARIOS
    ],
)
async def test_an_episode_sends_the_same_requests_as_a_run(name: str) -> None:
    answers, keys = SCENARIOS[name]
    left = said(text="I give up.")  # said once the script is over

    def script(_: Json, number: int) -> Reply:
        each = answers[number] if number < len(answers) else left
        return completion(each["text"], each["calls"], finish_reason=each["reason"], **each["more"])

    async with ChatServer(script) as server:
        evaluation = await aevaluate(
            benchmark="fixture",
            task=TASK,
            model="served",
            base_url=server.base_url,
            mode="agentic",
            workers=1,
            **keys,
        )
    (result,) = evaluation.results
    sent = [_bytes(each.body["messages"], each.body.get("tools")) for each in server.requests]
    got: list[str] = []
    with Episodes("fixture", workers=1, **keys) as episodes:
        episode = Episode(episodes)
        grown = await episode.areset(TASK)
        for each in (*answers, *[left] * 10):
            if episode.done:
                break
            assert episode.messages == grown, "the steps' messages add up to the conversation"
            got.append(_bytes(episode.messages, episode.tools))
            message = {"content": each["text"], **each["more"].get("message", {})}
            answer = {**message, "tool_calls": each["calls"]}
            step = await episode.astep(answer, cut_off=each["reason"] == "length")
            if not step.done:
                said_now = episode.messages[len(grown)] if not step.restarted else None
                grown = step.messages if step.restarted else [*grown, said_now, *step.messages]
        reward = await episode.areward()
    assert got == sent
    assert len(got) == result.model_calls > 1
    assert (reward.stop_reason, reward.code) == (result.stop_reason, result.code)
    assert (reward.verdict, reward.tool_calls) == (result.verdict, result.tool_calls)
    assert reward.malformed == result.malformed_tool_calls
    assert reward.hidden_passed == result.hidden_passed


def _bytes(messages: Any, tools: Any) -> str:
    """A request's conversation as it was sent, but for the seconds that tests took."""
    text = json.dumps([messages, tools or []])
    return re.sub(r"\d+\.\d\d s of CPU time", "T of CPU time", text)


def test_the_tools_are_those_of_a_run() -> None:
    with Episodes("fixture") as episodes:
        names = [each["function"]["name"] for each in Episode(episodes).tools]
    assert names == ["read_problem", "write_solution", "run_tests"]
    assert isinstance(harness.Episode, type)
