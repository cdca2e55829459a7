"""Settings of the mode: strategy, tools, and limits of one sample."""

from functools import partial
from typing import Annotated

from pydantic import Field

from harness.agent.strategies.modes import SHOT, built_in_modes
from harness.agent.strategies.options import Context, StrategyOptions
from harness.languages import LanguageName
from harness.models.providers import ToolProtocol
from harness.run.settings.execution_settings import LONGEST_SECONDS
from harness.run.settings.setting import (
    LEAST_MEMORY,
    MOST_MEMORY,
    MOST_ROUNDS,
    Setting,
    SettingsGroup,
)
from harness.tools import REPORT_TESTS

USUAL = StrategyOptions()
_asks = partial(Setting, heeded_by="asks")
_loop = partial(Setting, heeded_by="option", recorded=True)
_tool = partial(Setting, heeded_by="tools", recorded=True)
_agent = partial(Setting, heeded_by="option")


def _names() -> list[str]:
    """Return the modes in which the harness sends the requests, the usual one first."""
    names = [mode.name for mode in built_in_modes(asking=True)]
    return sorted(names, key=lambda name: name != SHOT.name)


class ModeSettings(SettingsGroup):
    """How a solution is sought, and what one sample may use."""

    mode: Annotated[
        str,
        Setting(
            f"How a solution is sought: {', '.join(_names())}, a plug-in's mode, or your own "
            "module:attribute.",
            "Mode",
            metavar="STRATEGY",
            factor=True,
            common=True,
        ),
    ] = SHOT.name
    language: Annotated[
        LanguageName,
        Setting(
            "Language of the solutions: python, or cpp for C++.",
            "Mode",
        ),
    ] = "python"
    tool_protocol: Annotated[
        ToolProtocol,
        _loop(
            "Give the model its tools natively (native), or none: it answers with a program "
            "(text). Default: native until the provider refuses (auto).",
            "Mode",
        ),
    ] = "auto"
    max_turns: Annotated[
        int,
        _loop(
            "Most model requests per sample.",
            "Mode",
            names=("--max-turns", "--agentic-turn-budget"),
            common=True,
        ),
    ] = Field(default=10, ge=1)
    max_tool_calls: Annotated[
        int | None, _tool("Most tool calls per sample. Default: no limit.")
    ] = Field(default=None, ge=1)
    max_tokens_per_sample: Annotated[
        int | None,
        Setting(
            "Input and output tokens of a sample after which no further request is sent. "
            "Default: no limit.",
            recorded=True,
            heeded_by="several",
        ),
    ] = Field(default=None, ge=1)
    stop_on_pass: Annotated[
        bool, _loop("End the agent loop when the public tests pass, or let the model go on.")
    ] = True
    context: Annotated[
        Context,
        _loop(
            "Conversation after a program that failed: it grows (grow), or is a new one (fresh). "
            "Default: fresh in text, grow with native tools (auto).",
            "Mode",
        ),
    ] = "auto"
    repeats: Annotated[
        int,
        _loop(
            "Number of repeated programs after which the model begins anew with the problem alone. "
            "It begins anew twice at most."
        ),
    ] = Field(default=1, ge=1)
    check_turns: Annotated[
        int,
        _loop(
            "Most turns after the public tests have passed. In each the model names edge cases, "
            "which are run on its program."
        ),
    ] = Field(default=0, ge=0, le=MOST_ROUNDS)
    report_tests: Annotated[
        int,
        Setting(
            "Failing public tests that a report shows in full; the others get a line each.",
            heeded_by="reports",
            recorded=True,
        ),
    ] = Field(default=REPORT_TESTS, ge=1)
    submit_tool: Annotated[bool, _tool("Give the model a tool that ends its attempt: submit.")] = (
        False
    )
    run_code_tool: Annotated[
        bool, _tool("Give the model a tool that runs any program: run_code(code, stdin).")
    ] = False
    show_budget: Annotated[
        bool,
        _loop("Tell the model with each tool result how many turns, tokens and dollars are left."),
    ] = False
    tool: Annotated[
        tuple[str, ...],
        _tool(
            "Give the model a tool of your own; may be given several times.",
            "Mode",
            metavar="MODULE:ATTRIBUTE",
        ),
    ] = ()
    agent_command: Annotated[
        str | None,
        _agent(
            "Start your own agent, which speaks MCP, for each sample. {mcp_config} becomes a "
            "file with the server's address, {prompt} the task.",
            "Agent of your own",
            metavar="'CMD {mcp_config}'",
        ),
    ] = None
    agent_read: Annotated[
        tuple[str, ...],
        _agent(
            "File or folder that the agent may read, beside the system's; may be given "
            "several times.",
            "Agent of your own",
            metavar="PATH",
        ),
    ] = ()
    agent_env: Annotated[
        tuple[str, ...],
        _agent(
            "Environment variable that the agent gets, such as its key; may be given "
            "several times.",
            "Agent of your own",
            metavar="NAME",
        ),
    ] = ()
    agent_memory: Annotated[
        int | None,
        _agent(
            "Memory limit of an agent and all that it starts, in MiB. Default: 4096.", metavar="MIB"
        ),
    ] = Field(default=None, ge=LEAST_MEMORY, le=MOST_MEMORY)
    agent_without_namespace: Annotated[
        bool,
        _agent(
            "Start the agent where it can read all that you can, hidden tests included; "
            "marks all results."
        ),
    ] = False
    repair_rounds: Annotated[
        int | None,
        _loop(
            "Rounds of self_repair and reflexion, and of debugging each plan of map_coder. "
            "Default: 1.",
            usual=USUAL.repair_rounds,
        ),
    ] = Field(default=None, ge=1, le=MOST_ROUNDS)
    best_of: Annotated[
        int | None,
        _loop(
            "Single shots of best_of_k_public, or solutions of codet. Default: 5.",
            "Mode",
            metavar="K",
            usual=USUAL.best_of,
        ),
    ] = Field(default=None, ge=1, le=MOST_ROUNDS)
    test_answers: Annotated[
        int | None, _loop("Answers with tests of codet. Default: 1.", usual=USUAL.test_answers)
    ] = Field(default=None, ge=1, le=MOST_ROUNDS)
    plans: Annotated[
        int | None,
        _loop(
            "Similar problems that map_coder recalls, with a plan for each. Default: 3.",
            usual=USUAL.plans,
        ),
    ] = Field(default=None, ge=1, le=MOST_ROUNDS)
    prompt: Annotated[
        str,
        Setting(
            "Prompt set: the name of a bundled one, or a folder.",
            "Mode",
            metavar="SET",
            factor=True,
            common=True,
        ),
    ] = "default"
    extract: Annotated[
        str,
        _asks(
            "Rule that finds code, or a value, in the model's text.", metavar="harness|lcb|lcb-cot"
        ),
    ] = "harness"
    sample_timeout: Annotated[
        float | None,
        Setting(
            "Time limit per sample in seconds, without waiting for rate limits, outages and "
            "sandbox workers. Default: no limit.",
            "Mode",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    sample_wall_timeout: Annotated[
        float | None,
        Setting(
            "Wall-clock limit per sample in seconds, waiting included. Default: no limit.",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
