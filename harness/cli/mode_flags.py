"""The flags that say how a solution is sought."""

from typing import Annotated

from harness.cli import completion
from harness.cli.options import option

AgenticMode = Annotated[
    bool,
    option(
        "--agentic-mode",
        help="Let the model iterate; the same as --mode agentic.",
        panel="Mode",
    ),
]
Mode = Annotated[
    str | None,
    option(
        "--mode",
        help="single_shot (default), agentic, self_repair, best_of_k_public, or a strategy of "
        "your own as module:attribute; or a plug-in's.",
        panel="Mode",
        metavar="STRATEGY",
        complete=completion.strategies,
    ),
]
ToolProtocol = Annotated[
    str | None,
    option(
        "--tool-protocol",
        help="How the model calls its tools: as the provider has it, described in text, or "
        "natively until that is refused (auto).",
        panel="Mode",
        metavar="auto|native|text",
    ),
]
MaxTurns = Annotated[
    int | None,
    option(
        "--max-turns",
        "--agentic-turn-budget",
        help="Most model calls of a sample (10).",
        panel="Mode",
    ),
]
MaxToolCalls = Annotated[
    int | None, option("--max-tool-calls", help="Most tool calls of a sample.", panel="Mode")
]
MaxTokensPerSample = Annotated[
    int | None,
    option(
        "--max-tokens-per-sample",
        help="Input and output tokens of a sample, after which nothing more is asked.",
        panel="Mode",
    ),
]
StopOnPass = Annotated[
    bool | None,
    option(
        "--stop-on-pass/--no-stop-on-pass",
        help="Whether the agent loop ends once the public tests pass (yes).",
        panel="Mode",
    ),
]
SubmitTool = Annotated[
    bool | None,
    option(
        "--submit-tool", help="Give the model a tool that ends its attempt: submit.", panel="Mode"
    ),
]
RunCodeTool = Annotated[
    bool | None,
    option(
        "--run-code-tool",
        help="Give the model a tool that runs any program: run_code(code, stdin).",
        panel="Mode",
    ),
]
ShowBudget = Annotated[
    bool | None,
    option(
        "--show-budget",
        help="Tell the model with each tool result how many turns, tokens and dollars it has left.",
        panel="Mode",
    ),
]
Tool = Annotated[
    list[str] | None,
    option(
        "--tool",
        help="Give the model a tool of your own; repeat.",
        panel="Mode",
        metavar="MODULE:ATTRIBUTE",
    ),
]
AgentCommand = Annotated[
    str | None,
    option(
        "--agent-command",
        help="Have an agent of your own solve each sample, a program that speaks MCP: "
        "{mcp_config} becomes the file that tells it of the tools, {prompt} what it is to do.",
        panel="Agent of your own",
        metavar="'CMD {mcp_config}'",
    ),
]
AgentRead = Annotated[
    list[str] | None,
    option(
        "--agent-read",
        help="Show it a file or folder beside the system's, to be read only; repeat.",
        panel="Agent of your own",
        metavar="PATH",
    ),
]
AgentEnv = Annotated[
    list[str] | None,
    option(
        "--agent-env",
        help="Give it a variable of the environment, such as its key; repeat.",
        panel="Agent of your own",
        metavar="NAME",
    ),
]
AgentMemory = Annotated[
    int | None,
    option(
        "--agent-memory",
        help="Memory of an agent and all that it starts, in MiB (4096).",
        panel="Agent of your own",
        metavar="MIB",
    ),
]
AgentWithoutNamespace = Annotated[
    bool | None,
    option(
        "--agent-without-namespace",
        help="Run it where it can read whatever you can, hidden tests included; marks all results.",
        panel="Agent of your own",
    ),
]
RepairRounds = Annotated[
    int | None, option("--repair-rounds", help="Rounds of self_repair (1).", panel="Mode")
]
RepairFrom = Annotated[
    str | None,
    option(
        "--repair-from",
        help="A run whose solutions self_repair begins with, instead of asking for some.",
        panel="Mode",
        metavar="RUN",
        complete=completion.runs,
    ),
]
BestOf = Annotated[
    int | None,
    option("--best-of", help="Single shots of best_of_k_public (5).", panel="Mode", metavar="K"),
]
Prompt = Annotated[
    str | None,
    option(
        "--prompt",
        help="A bundled prompt set, or a folder with one.",
        panel="Mode",
        metavar="SET",
        complete=completion.prompts,
    ),
]
Extract = Annotated[
    str | None,
    option(
        "--extract",
        help="How code, or a value, is found in a model's words: our rules, or upstream's.",
        panel="Mode",
        metavar="harness|lcb|lcb-cot",
    ),
]
SampleTimeout = Annotated[
    float | None,
    option(
        "--sample-timeout",
        help="Time limit per sample in seconds, without waiting for rate limits, outages and "
        "sandbox workers.",
        panel="Mode",
        metavar="S",
    ),
]
SampleWallTimeout = Annotated[
    float | None,
    option(
        "--sample-wall-timeout",
        help="Wall seconds of a sample, waiting included.",
        panel="Mode",
        metavar="S",
    ),
]
Executor = Annotated[
    str | None,
    option(
        "--executor",
        help="Where programs are judged: on this machine (default), or on all nodes of a Ray "
        "cluster.",
        panel="Run",
        metavar="local|ray",
    ),
]
RayAddress = Annotated[
    str | None,
    option(
        "--ray-address",
        help="The Ray cluster: the one that this machine is part of (auto), or that at an address.",
        panel="Run",
        metavar="auto|HOST:PORT",
    ),
]
Shard = Annotated[
    str | None,
    option(
        "--shard",
        help="Just the I-th of N equal parts of the problems; `harness merge` puts them together.",
        panel="Run",
        metavar="I/N",
    ),
]
