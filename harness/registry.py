"""Table of all built-in objects that are imported by name when used.

A feature is a folder of `harness/features/`, reached only through this table: without the folder
and its lines here, the feature is gone.
"""

from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from harness.errors import UsageError, missing_package

RUN, READ, PROBLEMS, JUDGE, MORE = "Run", "Compare and read", "Problems", "Judge", "More"
EXECUTORS: Mapping[str, str] = {"ray": "harness.features.cluster.ray_executor:RayExecutor"}
"""Executors other than this machine: value of the setting to class."""

MODES: Mapping[str, str] = {
    "agentic": "harness.agent.strategies.modes:LOOP",
    "single_shot": "harness.agent.strategies.modes:SHOT",
    "self_repair": "harness.agent.strategies.modes:SELF_REPAIR",
    "best_of_k_public": "harness.agent.strategies.modes:BEST_OF_K",
    "codet": "harness.features.published.modes:CODET",
    "reflexion": "harness.features.published.modes:REFLEXION",
    "map_coder": "harness.features.published.modes:MAP_CODER",
    "external": "harness.features.external.modes:EXTERNAL",
    "mcp": "harness.features.external.modes:MCP",
}
"""Built-in modes, each a `harness.agent.strategies.modes.Mode`, in the order of messages."""

AGENT_STRATEGY = "harness.features.external.session:unconnected"
"""Strategy of modes of a user's own agent while there is none."""
CONFIG_OF_AGENT, TASK_OF_AGENT = "HARNESS_MCP_CONFIG", "HARNESS_PROMPT"
"""Variables that tell a user's own agent where to connect, and its task."""

TRANSPORTS: Mapping[str, str] = {"batch": "harness.features.batch.run:BATCH"}
"""Ways to send requests other than one by one, each a `Transport`."""

START_CHECKS: Mapping[str, str] = {
    "harness.run.plan.languages:check_start": "",
    "harness.features.batch.run:check_start": "batch",  # before target: it names providers
    "harness.run.plan.target:check_start": "",
    "harness.features.impossible.impossible_tests:check_start": "impossible",
    "harness.features.impossible.impossible_tests:check_recorded": "",
    "harness.features.efficiency.timed_run:check_start": "efficiency",
}
"""Checks of a run before its problems are loaded, each a function of a `plan.Start`.

The value is the setting without which a check is not imported; empty where it always runs. Their
order decides only which of several errors is shown.
"""

PLAN_CHECKS: Mapping[str, str] = {
    "harness.run.plan.plan:check_plan": "",
    "harness.run.plan.problem_kinds:check_plan": "",
    "harness.run.plan.languages:check_plan": "",
    "harness.run.plan.recordings:check_plan": "",
    "harness.run.plan.judging_options:check_plan": "",
    "harness.run.plan.prompts:check_plan": "",
}
"""Checks of a finished plan, each a function of it; as `START_CHECKS`."""

REGRADE = "harness.features.regrade.command:regrade_run"
"""Function that grades a run's solutions once more, for `harness grade RUN`."""

LOADERS: Mapping[str, str] = {
    "fixture": "harness.sources.jsonl:load_bundled",
    "jsonl": "harness.sources.jsonl",
    "livecodebench": "harness.sources.livecodebench.livecodebench",
    "leetcode": "harness.sources.leetcode.leetcode",
    "leetcodedataset": "harness.sources.leetcode.dataset",
    "mercury": "harness.sources.mercury",
    "apps": "harness.sources.apps.apps",
    "icpc": "harness.kinds.packages.icpc",
    "codeforces": "harness.kinds.packages.codeforces",
    "humaneval": "harness.kinds.code_tests.humaneval",
    "humanevalplus": "harness.kinds.code_tests.humaneval",
    "mbpp": "harness.kinds.code_tests.mbpp",
    "mbppplus": "harness.kinds.code_tests.mbpp",
}
"""Module of each source of problems, imported when they are read.

It has `load`, a `Loader`, or the function that is named; and `read_rows` if the source has data
sets on the hub.
"""

SIX_SECONDS = frozenset({"livecodebench", "leetcode", "leetcodedataset", "mercury", "fixture"})
"""Sources whose tests get six CPU seconds; those of others get the general limit."""

LIVECODEBENCH_ROWS: Mapping[str, str] = {
    "test output prediction": "harness.kinds.questions.test_output",
    "code execution": "harness.kinds.questions.code_execution",
}
"""Modules that read LiveCodeBench's rows besides those of programs.

Each has `parse_row`, and `MARKS`, the columns that identify its rows.
"""

PROBLEM_KINDS: Mapping[str, str] = {
    "code_generation": "harness.agent.problem_kind:PROGRAMS",
    "test_output_prediction": "harness.kinds.questions.problem_kinds:TEST_OUTPUT",
    "code_execution": "harness.kinds.questions.problem_kinds:CODE_EXECUTION",
}
"""Kinds of problems, each a `harness.agent.problem_kind.ProblemKind`."""

HAND_IN: Mapping[str, str] = {
    "write_solution": "harness.tools.write_solution:WriteSolution",
    "write_answer": "harness.kinds.questions.write_answer:WriteAnswer",
}
"""Tools that hand in a solution, by name."""

LANGUAGES: Mapping[str, str] = {
    "python": "harness.languages.python:LANGUAGE",
    "cpp": "harness.kinds.cpp.language:LANGUAGE",
}
"""Languages of solutions, each a `harness.languages.language.Language`."""

BUILDER = "harness.kinds.cpp.builder:Builder"
"""Compiles programs, a `harness.sandbox.program_builder.ProgramBuilder`."""

CHECKER_OF = "harness.kinds.checkers.by_problem:checker_of"
"""Function from names of a problem to its `Checker` where several answers are right, or None."""

ROW_CHECKER = "harness.kinds.checkers.row_checker:RowProgram"
"""Reads the checker of a user's row that is a program."""

TOLERANCE = "harness.kinds.checkers.row_checker:WITHIN_TOLERANCE"
"""`Checker` of results that may be off by a tolerance, which is a test's flag."""

ROW_TESTS = "harness.kinds.code_tests.row_tests:tests_as_code"
"""Function that reads the tests of a user's row where they are, or must become, code."""

READ_UNITS = "harness.kinds.code_tests.units:read_units"
"""Function that splits test code, as text or statements, into tests. Raises ValueError."""

JUDGES: Mapping[str, str] = {
    "tests": "harness.kinds.code_tests.code_judge:CodeJudge",
    "passes": "harness.kinds.packages.passes:PassJudge",
}
"""Judges of solutions that are not run once a test, by `Checker.judged_by`."""

ANSWER_CHECKS: Mapping[str, str] = {
    "check": "harness.kinds.checkers.check:Check",
    "hooks": "harness.kinds.checkers.check:Check",
    "program": "harness.kinds.checkers.checker_program:ProgramCheck",
}
"""What compares answers in place of a rule, each an `AnswerCheck`, by `Checker.judged_by`."""

POINTS = "harness.kinds.packages.scores:judge_groups"
"""Function that judges a solution to a problem with points."""

RULES: Mapping[str, str] = {
    "lcb": "harness.grading.rules.lcb:LCB",
    "equality": "harness.grading.rules.equality:EQUALITY",
    "tokens": "harness.grading.rules.tokens:TOKENS",
    "apps_legacy": "harness.grading.rules.apps_legacy:APPS_LEGACY",
}
"""Comparison rules, each a `harness.grading.rules.ComparisonRule`."""

FACTS = (
    "harness.run.summary.facts:FACTS",
    "harness.features.impossible.impossible_rates:FACTS",
    "harness.features.efficiency.efficiency_table:FACTS",
)
"""Tables of facts of a run, each `harness.run.summary.fact.Facts`, in the order of screens."""

SAMPLE_FACTS = ("harness.run.summary.sample_facts:SAMPLE_FACTS",)
"""Tables of facts of a sample, each of `harness.run.summary.sample_facts.SampleFact`."""

SCHEMAS: Mapping[str, tuple[str, str]] = {
    "comparison": (
        "harness.features.compare.comparison:Comparison",
        "What `harness compare --json` prints.",
    ),
    "event": (
        "harness.features.observers.observer_events:Observed",
        "What an observer is told; `--notify` posts those of runs, with a `text` beside.",
    ),
    "runs": ("harness.features.show.run_list:ShownRuns", "What `harness ls --json` prints."),
    "samples": ("harness.features.show.command:ShownRun", "What `harness show --json` prints."),
    "problems": ("harness.features.info.problems:Listed", "What `harness problems --json` prints."),
    "files": ("harness.features.info.fetch:Fetched", "What `harness fetch --json` prints."),
    "machine": ("harness.features.info.doctor:Machine", "What `harness doctor --json` prints."),
    "providers": ("harness.features.info.models:Providers", "What `harness models --json` prints."),
    "model": ("harness.features.info.models:ShownModel", "What `models NAME --json` prints."),
    "prompts": (
        "harness.features.info.prompts:DescribedSets",
        "What `prompts list --json` prints.",
    ),
    "grades": (
        "harness.features.grade.grades:GradedFileOutput",
        "What `grade FILE --json` prints.",
    ),
    "verification": (
        "harness.features.verify.verification:VerifiedSource",
        "What `harness verify --json` prints.",
    ),
    "times": (
        "harness.features.verify.reference_timing:TimedSource",
        "What `harness verify --time --json` prints.",
    ),
    "ranking": (
        "harness.features.experiment.ranking:Ranking",
        "What `harness experiment --json` prints.",
    ),
    "experiment-estimate": (
        "harness.features.experiment.foretold:ForetoldExperiment",
        "What `harness experiment --dry-run --json` prints.",
    ),
    "tuning": ("harness.features.tune.outcome:TuneOutcome", "What `harness tune --json` prints."),
    "tuning-estimate": (
        "harness.features.tune.command:ForetoldTuning",
        "What `harness tune --dry-run --json` prints.",
    ),
}
"""Schemas of features: argument of `harness schema` to a type and a description.

The version, `SCHEMA`, is in the type's module.
"""

SCHEMA_NAMES = ("result", "transcript", "spec", "summary", "estimate", *SCHEMAS)
"""Arguments of `harness schema`."""

MOVED = {
    "calibrate": "verify --time",
    "plugins": "doctor",
    "regrade": "grade RUN",
}
"""Commands of before, and where they are now."""


class RunFeature(NamedTuple):
    """A feature with a part in runs that ask for it: objects of its folder, as `module:attribute`.

    Attributes:
        result, summary: types of its field in a result, and in a summary.
        join: returns the plan of a run that asks for the feature with its `RunPart`, from the
            plan, the manifest of the run to resume, and a reporter.
        summarize: returns its field of a summary, from results some of which have its field.
        model: name of the model where none is named.
        tools: returns further tools of the model, from a spec.
        prompt: returns the prompt set of a run, from a spec and the set that it names.
        uncounted: returns the problems that count in no rate, from a manifest.
        findings, unlike: yield sentences on two runs with labels: what they did, and why they are
            not fully comparable.
        faster: returns the speed of two runs' solutions, given the ids of the problems.
        view: a `PartView`.
    """

    result: str
    summary: str
    join: str
    summarize: str
    model: str = ""
    tools: str = ""
    prompt: str = ""
    uncounted: str = ""
    findings: str = ""
    unlike: str = ""
    faster: str = ""
    view: str = ""


RUN_FEATURES: Mapping[str, RunFeature] = {
    "impossible": RunFeature(
        result="impossible_result:ImpossibleResult",
        summary="impossible_rates:ImpossibleSummary",
        join="choice:with_impossible_tests",
        summarize="impossible_rates:summarize_impossible",
        tools="way_out:tools_of",
        prompt="way_out:prompt_of",
        uncounted="changed_tests:changes_of",
        findings="impossible_findings:impossible_findings",
    ),
    "efficiency": RunFeature(
        result="scale:Efficiency",
        summary="efficiency_summary:EfficiencySummary",
        join="timed_run:with_timing",
        summarize="efficiency_summary:summarize_efficiency",
        model="references",
        unlike="faster:timed_unlike",
        faster="faster:faster",
        view="part_view:VIEW",
    ),
}
"""Features with a part in runs, by their folder, setting, and field of results and summaries."""


class Command(NamedTuple):
    """A command of the program.

    Attributes:
        name: the word after `harness`.
        target: `module:attribute`, a function or a `typer.Typer` with subcommands.
        help: one line for `harness --help`.
        panel: its group in the help.
    """

    name: str
    target: str
    help: str
    panel: str


COMMANDS = tuple(
    Command(name, f"harness.features.{target}", text, panel)
    for name, target, text, panel in (
        ("run", "evaluate.command:run", "Run a model on problems and grade its solutions.", RUN),
        (
            "experiment",
            "experiment.command:app",
            "Compare modes, models or prompts on one problem set.",
            RUN,
        ),
        ("tune", "tune.command:app", "Search for a better prompt set, and measure its gain.", RUN),
        ("mcp", "external.command:mcp", "Serve one problem to an agent of your own over MCP.", RUN),
        ("models", "info.models:models", "Show which models you can ask, and how.", RUN),
        ("prompts", "info.prompts:app", "List, show, check and copy prompt sets.", RUN),
        ("compare", "compare.command:compare", "Compare runs with a baseline.", READ),
        ("show", "show.command:show", "Show the results of a run.", READ),
        ("ls", "show.ls_command:ls", "List runs.", READ),
        (
            "transcript",
            "show.transcript_command:transcript",
            "Print a sample's conversation.",
            READ,
        ),
        ("report", "report.page:report", "Write an HTML report of runs.", READ),
        ("view", "viewer.command:view", "Browse runs in a web browser.", READ),
        ("export", "export.command:export", "Write a run in another format.", READ),
        ("rm", "remove.command:rm", "Delete runs.", READ),
        ("problems", "info.problems:problems", "List problems, or show one.", PROBLEMS),
        ("fetch", "info.fetch:fetch", "Download a benchmark's data.", PROBLEMS),
        ("verify", "verify.command:verify", "Judge or time a benchmark's references.", PROBLEMS),
        ("grade", "grade.command:grade", "Grade solutions from a file, or a run's anew.", JUDGE),
        ("serve", "serve.command:serve", "Serve the judge over HTTP.", JUDGE),
        ("import", "import_.command:import_", "Turn published results into a run.", JUDGE),
        ("doctor", "info.doctor:doctor", "Check this machine's sandbox and plug-ins.", JUDGE),
        ("merge", "merge.merge:merge_command", "Merge the shards of a run into one run.", MORE),
        ("schema", "info.schema:schema", "Print the JSON Schema of a file or output.", MORE),
    )
)
"""The commands in the order of `harness --help`."""


def resolve(target: str) -> Any:
    """Import the object named by `module:attribute`.

    Raises:
        ModuleNotFoundError: the module, or one that it imports, does not exist.
    """
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def installed(target: str) -> Any:
    """Import an object; None if its feature is not part of this installation.

    Raises:
        ModuleNotFoundError: a package that the feature needs is not installed, or the object does
            not belong to a feature.
    """
    try:
        return resolve(target)
    except ModuleNotFoundError as error:
        if missing_package(error) is not None or not target.startswith("harness.features."):
            raise
        return None


def hooks(name: str, within: Collection[str] = RUN_FEATURES) -> Mapping[str, Any]:
    """Return an attribute of `RUN_FEATURES`, imported, by those features that have one.

    Args:
        name: the attribute.
        within: features that are wanted; others are not imported.
    """
    found = {key: _hook(key, name) for key in RUN_FEATURES if key in within}
    return {key: hook for key, hook in found.items() if hook is not None}


@cache
def _hook(key: str, name: str) -> Any:
    of = getattr(RUN_FEATURES[key], name)
    return installed(f"harness.features.{key}.{of}") if of else None


def feature(target: str, flag: str) -> Any:
    """Import the feature for a setting.

    Args:
        target: `module:attribute`.
        flag: the flag or command, for the error message.

    Raises:
        ModuleNotFoundError: a package that the feature needs is not installed.
        UsageError: the feature is not installed.
    """
    try:
        return resolve(target)
    except ModuleNotFoundError as error:
        if missing_package(error) is not None:
            raise
        raise UsageError(f"{flag} is not part of this installation ({error.name})") from error
