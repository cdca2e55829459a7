"""The flags of strategies and limits, each with its effect on a run served over loopback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Json, Reply, completion, in_turn, tool_call
from for_each import for_each
from program import harness, results, run

from harness import UsageError, evaluate
from harness.agent.strategies.modes import built_in_modes

PROBLEM = ["-b", "fixture", "-t", "dry-beds"]
USAGE = {"prompt_tokens": 7, "completion_tokens": 3}


@pytest.fixture(scope="session")
def right(bundled_rows: list[dict[str, Any]]) -> str:
    return next(row for row in bundled_rows if row["id"] == "fixture/dry-beds")["references"][0]


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def calling(*calls: tuple[str, Json]) -> Reply:
    asked = [tool_call(name, given, f"c{place}") for place, (name, given) in enumerate(calls)]
    return completion(None, asked, usage=USAGE)


def saying(text: str) -> Reply:
    return completion(text, usage=USAGE)


def reading(_body: Json, number: int) -> Reply:
    """Reads twice a turn, without end."""
    calls = [tool_call("read_problem", {}, f"r{number}{place}") for place in "ab"]
    return completion(None, calls, usage=USAGE)


async def _served(
    folder: Path, script: Callable[[Json, int], Any], *flags: str, out: str = "r"
) -> tuple[ChatServer, dict[str, Any]]:
    async with ChatServer(script) as server:
        base = ["-m", "served", "--base-url", server.base_url, "--out", out, *PROBLEM]
        code, _, err = await run(folder, "run", *base, *flags)
    assert code == 0, err
    (result,) = results(folder / out)
    return server, result


def _offered(server: ChatServer) -> list[str]:
    return [tool["function"]["name"] for tool in server.requests[0].body["tools"]]


async def test_max_tool_calls_ends_a_sample(tmp_path: Path) -> None:
    server, result = await _served(
        tmp_path, reading, "--agentic-mode", "--set", "max_tool_calls=3", "--max-turns", "9"
    )
    assert (len(server.requests), result["stop_reason"]) == (2, "tool_call_limit")
    assert result["verdict"] == "no_solution"


async def test_max_tokens_per_sample(tmp_path: Path) -> None:
    server, result = await _served(
        tmp_path, reading, "--agentic-mode", "--set", "max_tokens_per_sample=25", "--max-turns", "9"
    )
    assert (len(server.requests), result["stop_reason"]) == (3, "token_limit")


@pytest.mark.thorough
async def test_no_stop_on_pass_goes_on_until_the_model_stops(tmp_path: Path, right: str) -> None:
    script = in_turn(
        calling(("write_solution", {"code": right}), ("run_tests", {})), saying("Done.")
    )
    server, result = await _served(tmp_path, script, "--agentic-mode")
    assert (len(server.requests), result["stop_reason"]) == (1, "public_tests_passed")
    server, result = await _served(
        tmp_path, script, "--agentic-mode", "--set", "stop_on_pass=false", out="on"
    )
    assert (len(server.requests), result["stop_reason"]) == (2, "model_stopped")
    assert (result["verdict"], result["chosen_by"]) == ("accepted", "passed_public_tests")


async def test_submit_tool_offers_submit_which_ends_the_sample(tmp_path: Path, right: str) -> None:
    script = in_turn(calling(("write_solution", {"code": right}), ("submit", {})))
    server, result = await _served(tmp_path, script, "--agentic-mode", "--set", "submit_tool=true")
    assert _offered(server)[3:] == ["submit"]
    assert (len(server.requests), result["stop_reason"]) == (1, "submitted")
    assert (result["verdict"], result["chosen_by"]) == ("accepted", "passed_public_tests")


def _told(server: ChatServer, role: str) -> list[str]:
    return [
        each["content"] for each in server.requests[-1].body["messages"] if each["role"] == role
    ]


@pytest.mark.thorough
async def test_show_budget_tells_the_turns_and_tokens_left(tmp_path: Path, right: str) -> None:
    calls = (("read_problem", {}), ("write_solution", {"code": "print(1)"}), ("run_tests", {}))
    script = in_turn(calling(*calls), calling(("write_solution", {"code": right})), saying("Done."))
    flags = ["--agentic-mode", "--max-turns", "3", "--set", "show_budget=true"]
    limits = ["--set", "max_tokens_per_sample=10000"]
    money = ["--price", "1e6,1e6", "--set", "max_cost_per_sample=1000"]
    server, _ = await _served(tmp_path, script, *flags)
    read, written, tested, again = _told(server, "tool")
    assert "Left" not in read + written
    assert tested.endswith("\n\n[Left: 2 turns]")
    assert again.endswith("\n\n[Left: 1 turn]")
    server, _ = await _served(tmp_path, script, *flags, *limits, *money, out="limited")
    assert _told(server, "tool")[2].endswith("[Left: 2 turns, 9,990 tokens, $990.0000]")
    server, _ = await _served(tmp_path, script, *flags[:3], out="plain")
    assert not any("Left" in text for text in _told(server, "tool"))


@pytest.mark.thorough
async def test_max_turns_in_a_template(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "system.j2").write_text("You have {{ max_turns }} messages.")
    (folder / "user.j2").write_text("{{ problem.title }}")
    for mode, turns in (("agentic", 4), ("self_repair", 2), ("single_shot", 1)):
        script = in_turn(saying("I see."))
        flags = ["--prompt", "mine", "--mode", mode, *["--max-turns", "4"] * (mode == "agentic")]
        if mode == "self_repair":
            (folder / "repair.j2").write_text("{{ feedback }} {{ max_turns }}")
        server, _ = await _served(tmp_path, script, *flags, out=mode)
        assert (
            server.requests[0]
            .body["messages"][0]["content"]
            .startswith(f"You have {turns} messages.")
        )


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["agentic", "single_shot", "self_repair", "best_of_k_public"])
async def test_answers_that_the_token_limit_cuts_off_are_counted(tmp_path: Path, mode: str) -> None:
    def cut(_body: Json, _number: int) -> Reply:
        reply = completion("```python\nprint(")
        reply.body["choices"][0]["finish_reason"] = "length"
        return reply

    flags = ["--mode", mode, "--max-tokens", "800"]
    server, result = await _served(tmp_path, cut, *flags)
    asked = len(server.requests)
    assert result["cut_off"] == asked == result["model_calls"]
    for command in (["show", "r"], ["transcript", "r", result["sample"]]):
        done = harness(tmp_path, *command)
        assert done.returncode == 0, done.stderr
        assert "cut off" in done.stdout
    shown = " ".join(harness(tmp_path, "show", "r").stdout.split())
    times = "1 answer was" if asked == 1 else f"{asked} answers were"
    assert f"{times} cut off by the token limit: raise --max-tokens (now 800)" in shown
    assert "cut off │" in shown
    assert json.loads((tmp_path / "r" / "summary.json").read_text())["cut_off"] == asked


async def test_run_code_tool_runs_a_program_of_the_model(tmp_path: Path) -> None:
    program = {"code": "print(int(input()) * 2)", "stdin": "21\n"}
    script = in_turn(calling(("run_code", program)), saying("I see."))
    server, result = await _served(
        tmp_path, script, "--agentic-mode", "--set", "run_code_tool=true"
    )
    assert _offered(server)[3:] == ["run_code"]
    tool_messages = [each for each in server.requests[1].body["messages"] if each["role"] == "tool"]
    assert "Printed to stdout:\n42" in tool_messages[0]["content"]
    assert result["written"] == 0


@pytest.mark.thorough
async def test_repair_rounds_bounds_the_repairs(tmp_path: Path, right: str) -> None:
    script = in_turn(saying(fenced("print(1)")), saying(fenced("print(2)")), saying(fenced(right)))
    flags = ["--mode", "self_repair"]
    server, result = await _served(tmp_path, script, *flags)
    assert (len(server.requests), result["verdict"]) == (2, "wrong_answer")
    server, result = await _served(tmp_path, script, *flags, "--set", "repair_rounds=2", out="two")
    assert (len(server.requests), result["verdict"]) == (3, "accepted")
    assert "print(2)" in server.requests[2].body["messages"][-1]["content"]


async def test_best_of_sets_the_number_of_shots(tmp_path: Path, right: str) -> None:
    shots = [saying(fenced("print(1)")), saying(fenced("print(2)")), saying(fenced(right))]
    flags = ["--mode", "best_of_k_public", "--best-of"]
    server, result = await _served(tmp_path, in_turn(*shots), *flags, "2")
    assert (len(server.requests), result["chosen_by"]) == (2, "most_public_tests")
    server, result = await _served(tmp_path, in_turn(*shots), *flags, "3", out="three")
    assert (len(server.requests), result["verdict"]) == (3, "accepted")
    bodies = [request.body["messages"] for request in server.requests]
    assert bodies[0] == bodies[1] == bodies[2]


TEST = "Input:\n```\n{}\n```\nOutput:\n```\n{}\n```"


@pytest.mark.thorough
async def test_test_answers_sets_the_number_of_requests_for_tests(
    tmp_path: Path, right: str
) -> None:
    script = in_turn(saying(TEST.format(1, 2)), saying(fenced(right)), saying(fenced(right)))
    flags = ["--mode", "codet", "--best-of", "1"]
    server, result = await _served(tmp_path, script, *flags)
    assert (len(server.requests), result["verdict"]) == (2, "accepted")
    wrong = {"total": 1, "checked": 1, "wrong": 1, "checked_by": "solution"}
    assert result["written_tests"] == wrong
    server, result = await _served(tmp_path, script, *flags, "--set", "test_answers=2", out="two")
    assert (len(server.requests), result["model_calls"]) == (3, 3)


@pytest.mark.thorough
async def test_written_tests_are_checked_by_a_reference_where_the_solution_is_wrong(
    tmp_path: Path,
) -> None:
    script = in_turn(saying(TEST.format(1, 2)), saying(fenced("print(1)")))
    flags = ["--mode", "codet", "--best-of", "1"]
    _, result = await _served(tmp_path, script, *flags)
    assert result["verdict"] == "wrong_answer"
    assert result["written_tests"]["checked_by"] == "reference"
    done = harness(tmp_path, "show", "r", "--details")
    assert "1 test by the model; 1 of 1 that could be checked are wrong (100.0 %)" in done.stdout


@pytest.mark.thorough
async def test_plans_sets_the_number_of_plans(tmp_path: Path, right: str) -> None:
    recalled = "".join(f"<problem>{each}</problem>" for each in "abc")
    talk = [saying(recalled), *[saying("50")] * 2, saying(fenced(right)), *[saying("50")] * 9]
    flags = ["--mode", "map_coder", "--set"]
    server, result = await _served(tmp_path, in_turn(*talk), *flags, "plans=1")
    assert (len(server.requests), result["verdict"]) == (4, "accepted")
    server, result = await _served(tmp_path, in_turn(*talk), *flags, "plans=2", out="two")
    assert len(server.requests) > 4


@pytest.mark.thorough
async def test_best_of_may_exceed_the_turns_of_the_agent_loop(tmp_path: Path) -> None:
    async with ChatServer(lambda _body, _number: completion("```python\nprint(0)\n```")) as server:
        flags = ["-b", "fixture", "-n", "1", "-m", "served", "--base-url", server.base_url]
        command = ["run", *flags, "--mode", "best_of_k_public", "--best-of", "12"]
        code, _, err = await run(tmp_path, *command)
    assert code == 0, err
    assert len(server.requests) == 12


@pytest.mark.thorough
@pytest.mark.parametrize("mode", [mode.name for mode in built_in_modes(asking=True)])
async def test_sample_wall_timeout_ends_a_sample(tmp_path: Path, mode: str) -> None:
    def late(_body: Json, number: int) -> Reply:
        """Answers once: a run that nobody answers is an outage."""
        return Reply(saying("late").body, silence_s=60 if number else 0)

    limits = ["--set", "sample_wall_timeout=1", "-k", "2", "--concurrency", "1"]
    async with ChatServer(late) as server:
        base = ["-m", "served", "--base-url", server.base_url, "--out", "r", *PROBLEM]
        code, _, err = await run(tmp_path, "run", *base, "--mode", mode, *limits)
    assert code == 0, err
    _, result = results(tmp_path / "r")
    assert (result["stop_reason"], result["verdict"]) == ("wall_limit", "no_solution")


async def test_a_resumed_run_goes_on_with_its_own_texts(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "system.j2").write_text("The first words.")
    (mine / "user.j2").write_text("{{ problem.statement }} stdin stdout")
    flags = ["--prompt", "mine", "--mode", "self_repair"]
    await _served(tmp_path, in_turn(saying(fenced("print(1)"))), *flags)
    (mine / "system.j2").write_text("Other words.")
    (mine / "repair.j2").write_text("Other repair.")
    async with ChatServer(in_turn(saying(fenced("print(2)")))) as server:
        more = ["--base-url", server.base_url, "-k", "2"]
        code, _, err = await run(tmp_path, "run", "--resume", "r", *more)
    assert code == 0, err
    systems = {each.body["messages"][0]["content"] for each in server.requests}
    assert systems == {"The first words."}
    assert len(server.requests) == 2
    assert "Other" not in str([each.body for each in server.requests])
    stored = json.loads((tmp_path / "r" / "run.json").read_text())["prompt"]
    assert stored["parts"]["system"] == "The first words."
    assert "Other" not in str(stored)


async def test_other_texts_for_a_run_that_has_begun_are_refused(tmp_path: Path) -> None:
    await _served(tmp_path, in_turn(saying(fenced("print(1)"))))
    done = harness(tmp_path, "run", "--resume", "r", "--prompt", "terse")
    assert done.returncode == 2
    assert "--prompt cannot be changed on --resume" in _only_line(done.stderr)
    base = ["-m", "served", "--base-url", "http://127.0.0.1:9/v1", "--out", "r", *PROBLEM]
    done = harness(tmp_path, "run", *base, "--prompt", "terse")
    assert done.returncode != 0
    assert "the run has prompt 'default', and not 'terse'" in _only_line(done.stderr)


REFUSED = {
    "--set max_tool_calls": (["--set", "max_tool_calls=3"], ["self_repair", "best_of_k_public"]),
    "--set stop_on_pass": (["--set", "stop_on_pass=false"], ["single_shot", "self_repair"]),
    "--set max_tokens_per_sample": (["--set", "max_tokens_per_sample=3"], ["single_shot"]),
    "--set max_cost_per_sample": (["--set", "max_cost_per_sample=3"], ["single_shot"]),
    "--set submit_tool": (["--set", "submit_tool=true"], ["single_shot", "best_of_k_public"]),
    "--set run_code_tool": (["--set", "run_code_tool=true"], ["single_shot", "best_of_k_public"]),
    "--set show_budget": (
        ["--set", "show_budget=true"],
        ["single_shot", "self_repair", "best_of_k_public"],
    ),
    "--tool": (["--tool", "mine:Tool"], ["single_shot", "self_repair"]),
    "--set repair_rounds": (["--set", "repair_rounds=2"], ["agentic", "single_shot"]),
    "--context": (["--context", "fresh"], ["single_shot", "self_repair", "best_of_k_public"]),
    "--set repeats": (["--set", "repeats=2"], ["single_shot", "self_repair", "codet"]),
    "--set check_turns": (["--set", "check_turns=1"], ["single_shot", "best_of_k_public"]),
    "--set report_tests": (["--set", "report_tests=2"], ["single_shot", "best_of_k_public"]),
    "--best-of": (["--best-of", "2"], ["agentic", "self_repair", "map_coder"]),
    "--set test_answers": (["--set", "test_answers=2"], ["agentic", "reflexion"]),
    "--set plans": (["--set", "plans=2"], ["agentic", "codet"]),
}


def _only_line(err: str) -> str:
    (line,) = err.strip().splitlines()
    return line


@for_each("flag", REFUSED)
def test_a_mode_that_does_not_heed_a_flag_refuses_it(flag: str, tmp_path: Path) -> None:
    flags, (mode, *_) = REFUSED[flag]
    done = harness(tmp_path, "run", "--mode", mode, *flags)
    assert done.returncode == 2
    line = _only_line(done.stderr)
    assert f"{flag} goes with --mode" in line
    assert line.endswith(f"not {mode}")


@for_each("flag", REFUSED)
def test_each_mode_that_does_not_heed_a_key_refuses_it_in_python(flag: str) -> None:
    (*_, value), modes = REFUSED[flag]
    name = flag.removeprefix("--set ").removeprefix("--").replace("-", "_")
    text = value.removeprefix(f"{name}=")
    key = {name: json.loads(text) if text[0] in "0123456789tf" and text != "fresh" else text}
    for mode in modes:
        with pytest.raises(UsageError, match=f"{name} goes with --mode .*not {mode}$"):
            evaluate(model="m", base_url="http://127.0.0.1:9", mode=mode, **key)


OUT_OF_RANGE = [
    ("agentic", "--set", "max_tool_calls=0"),
    ("agentic", "--set", "max_tokens_per_sample=0"),
    ("self_repair", "--set", "repair_rounds=0"),
    ("best_of_k_public", "--best-of", "0"),
    ("codet", "--set", "test_answers=0"),
    ("map_coder", "--set", "plans=0"),
    ("agentic", "--set", "sample_wall_timeout=0"),
]


@for_each(("mode", "flag", "value"), OUT_OF_RANGE)
def test_values_out_of_range_are_refused(mode: str, flag: str, value: str, tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--mode", mode, flag, value)
    assert done.returncode == 2
    assert f"{flag} {value}".partition("=")[0].removesuffix(" 0") in done.stderr


MINE = """
from harness.agent.attempt import (Attempt, ChosenBy, StopReason)
from harness.agent.conversation import Conversation
from harness.tools.toolbox import NoArguments, ToolError

async def solve(session):
    assert "tests" not in dir(session.problem)
    conversation = Conversation(session)
    conversation.add(*session.prompt.render(session.problem, session.workspace.cpu_limit_s))
    turn = await conversation.ask()
    found = session.extract(turn.text, session.problem.entry_point)
    return Attempt(
        code=found.code, chosen_by=ChosenBy.ANSWER, extraction="mine",
        stop_reason=StopReason.MODEL_STOPPED, usage=conversation.usage,
        model_calls=conversation.turns,
    )

async def raises(session):
    raise ValueError("mine is broken")

class Count:
    name = "count"
    description = "Count the lines of your solution."
    arguments = NoArguments

    async def call(self, workspace, arguments):
        if workspace.latest is None:
            raise ToolError("Nothing to count.")
        return f"{len(workspace.latest.code.splitlines())} lines"

class Broken(Count):
    async def call(self, workspace, arguments):
        raise ValueError("mine is broken")

class Twin(Count):
    name = "run_tests"

number = 3
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


async def test_a_strategy_of_ones_own(mine: Path, right: str) -> None:
    server, result = await _served(mine, in_turn(saying(fenced(right))), "--mode", "mine:solve")
    assert (len(server.requests), result["verdict"]) == (1, "accepted")
    assert (result["extraction"], result["usage"]["output_tokens"]) == ("mine", 3)
    spec = json.loads((mine / "r" / "run.json").read_text())["spec"]
    assert spec["mode"] == "mine:solve"


async def test_a_tool_of_ones_own(mine: Path, right: str) -> None:
    script = in_turn(
        calling(("count", {}), ("write_solution", {"code": right}), ("count", {})),
        calling(("run_tests", {})),
    )
    server, result = await _served(mine, script, "--agentic-mode", "--tool", "mine:Count")
    assert _offered(server)[3:] == ["count"]
    tool_messages = [each for each in server.requests[1].body["messages"] if each["role"] == "tool"]
    assert tool_messages[0]["content"] == "Nothing to count."
    assert tool_messages[2]["content"] == f"{len(right.splitlines())} lines"
    assert result["verdict"] == "accepted"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--mode", "mine:raises"], "strategy mine:raises raised ValueError: mine is broken"),
        (
            ["--agentic-mode", "--tool", "mine:Broken"],
            "tool mine:Broken raised ValueError: mine is broken",
        ),
    ],
)
async def test_what_ones_own_code_raises_leaves_the_sample_pending(
    mine: Path, flags: list[str], message: str
) -> None:
    async with ChatServer(in_turn(calling(("count", {})))) as server:
        base = ["-m", "served", "--base-url", server.base_url, "--out", "r", *PROBLEM, *flags]
        code, out, err = await run(mine, "run", *base, "--json")
    assert code == 4, err
    assert json.loads(out)["pending"] == {"model_error": 1}
    assert message in err
    assert "Traceback" not in err
    assert not results(mine / "r")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--mode", "mine:absent"], "has no attribute 'absent'"),
        (["--mode", "nowhere:solve"], "module 'nowhere' does not import"),
        (["--mode", "mine:number"], "mine:number is a int; a strategy is an async function"),
        (["--mode", "mine"], "mode 'mine' is unknown; there are: agentic"),
        (["--agentic-mode", "--tool", "mine:number"], "mine:number is not a tool: missing name"),
        (["--agentic-mode", "--tool", "mine:absent"], "has no attribute 'absent'"),
        (["--agentic-mode", "--tool", "mine:Twin"], "there is a tool 'run_tests' already"),
        (
            ["--agentic-mode", "--tool", "mine:Count", "--tool", "mine:Count"],
            "there is a tool 'count' already",
        ),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    mine: Path, flags: list[str], message: str
) -> None:
    base = ["-m", "x", "--base-url", "http://127.0.0.1:9/v1", *PROBLEM]
    done = harness(mine, "run", *base, *flags)
    assert done.returncode == 2
    assert message in _only_line(done.stderr)
    assert not (mine / "runs").exists()


def test_a_mode_without_recordings_needs_a_model(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--mode", "reflexion")
    assert done.returncode == 2
    assert (
        "no recordings of reflexion; it has agentic, self_repair, single_shot. Name a model"
        in _only_line(done.stderr)
    )


@for_each("mode", ["codet", "reflexion"])
def test_modes_that_write_tests_refuse_dialogues(mode: str, tmp_path: Path) -> None:
    talk = {
        "id": "guess",
        "statement": "Guess the number.",
        "tests": [{"input": "7\n", "public": True}],
        "checker": {"code": "raise SystemExit(43)", "language": "python", "interactive": True},
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(talk))
    command = [
        "run",
        "-m",
        "served",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "-b",
        "jsonl:own.jsonl",
    ]
    done = harness(tmp_path, *command, "--mode", mode, "--dry-run")
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert f"--mode {mode} has the model write tests" in line
    assert "jsonl/guess is a dialogue with the judge" in line
    other = harness(tmp_path, *command, "--mode", "map_coder", "--dry-run")
    assert other.returncode == 0, other.stderr
