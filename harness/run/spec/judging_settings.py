"""Settings of judging."""

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.efficiency.timing_names import Timing
from harness.plugins import RuleName
from harness.run.spec.settings import (
    LEAST_MEMORY,
    MOST_MEMORY,
    Setting,
    SettingsGroup,
)
from harness.run.spec.timeout_values import LONGEST_SECONDS, validated_timeout
from harness.sandbox.isolation import Level

_tests = partial(Setting, needs="tests")
_limit = partial(Setting, needs="programs", compared=False)
_times = partial(Setting, needs="tests", compared=False)
_sandbox = partial(Setting, compared=False)


class JudgingSettings(SettingsGroup):
    """How solutions are judged."""

    run_tests: Annotated[
        bool,
        Setting(
            "Grade the solutions, or only generate them.",
            "Grading",
            names=("--run-tests/--no-run-tests",),
        ),
    ] = True
    rule: Annotated[
        RuleName | None,
        _tests(
            "Rule that compares outputs. Default: each problem's own.",
            "Grading",
            metavar="lcb|equality|tokens|apps_legacy|NAME",
        ),
    ] = None
    test_timeout: Annotated[
        float | str | None,
        BeforeValidator(validated_timeout),
        _limit(
            "CPU limit per test in seconds; or a multiple of what the problem's reference "
            "needs, after `harness verify`. Default: the source's own.",
            "Grading",
            metavar="S|reference*F",
        ),
    ] = None
    memory: Annotated[
        int | None,
        _limit(
            "Memory limit per test in MiB. Default: the source's own.", "Grading", metavar="MIB"
        ),
    ] = Field(default=None, ge=LEAST_MEMORY, le=MOST_MEMORY)
    isolate_tests: Annotated[
        bool, _tests("Start a new process for every test, instead of one per solution.", "Grading")
    ] = False
    wall_timeout: Annotated[
        float | None,
        _limit(
            "Wall-clock limit per test in seconds. Default: follows from the CPU limit.",
            "Grading",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    all_tests: Annotated[
        bool | None,
        _tests(
            "Run every test, or stop at the first failure. Default: stop after a limit was "
            "hit, or after a failure when there are more than 100 tests.",
            "Grading",
            names=("--all-tests/--fail-fast",),
        ),
    ] = None
    efficiency: Annotated[
        bool,
        _times(
            "Also time the solutions that pass, beside the problems' references. Without a "
            "model, the references are timed.",
            "Grading",
        ),
    ] = False
    timing: Annotated[
        Timing,
        _times(
            "Timing method: interleaved with references (paired), or Mercury's protocol of "
            "128 iterations.",
            "Grading",
            metavar="paired|mercury",
        ),
    ] = "paired"
    require_isolation: Annotated[
        Level,
        _sandbox(
            "Refuse a sandbox weaker than this: namespaces, landlock, seccomp.",
            "Grading",
            metavar="LEVEL",
        ),
    ] = Level.LANDLOCK
    unsafe_no_sandbox: Annotated[
        bool, _sandbox("Run even where no sandbox can be had; marks all results.", "Grading")
    ] = False
