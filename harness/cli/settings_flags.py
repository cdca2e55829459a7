"""Flags of commands, generated from the settings of a run.

A command with settings has a parameter `settings`, a mapping of the given ones, and is decorated
with `with_settings(…)`, which names them. Their flags are derived from the declarations in
`harness.run.settings`.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer

from harness.cli import completion
from harness.cli.help_page import ADVANCED, HelpAll
from harness.errors import UsageError
from harness.run.settings.problem_settings import ProblemSettings
from harness.run.settings.spec import SETTINGS, RunSpec, default_of

Command = Callable[..., Any]

PROBLEMS = tuple(key for key in ProblemSettings.model_fields if key != "samples_per_problem")
"""Settings that select problems."""
FILTERS = tuple(key for key in PROBLEMS if key != "benchmark")
"""Settings that select problems, except the benchmark."""
REQUESTS = (
    *("base_url", "temperature", "max_tokens", "reasoning_effort", "top_p", "top_k", "min_p"),
    *("model_seed", "stop", "frequency_penalty", "presence_penalty", "service_tier"),
    *("extra_body", "api", "api_key_env", "header"),
)
"""Settings of a request."""
JUDGING = (
    *("rule", "test_timeout", "time_factor", "wall_timeout", "memory", "workers"),
    *("isolate_tests", "all_tests"),
    *("require_isolation", "unsafe_no_sandbox", "executor", "ray_address"),
)
"""Settings of grading."""

RESULT_FILTERS = (
    *("filter_difficulty", "filter_tags", "filter_platform"),
    *("min_release_date", "max_release_date", "exclude_known_issues"),
)
"""Parameters of a command that filter results; settings of a run have the same names."""

_COMPLETERS: Mapping[str, Callable[[str], list[str]]] = {
    "benchmark": completion.benchmarks,
    "model": completion.models,
    "mode": completion.strategies,
    "prompt": completion.prompts,
    "rule": completion.rules,
}
MOST_FLAGS = 25
"""Number of flags above which the help leaves out those that few people use."""
HELP_ALL = inspect.Parameter(
    "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll
)
_COMMA_LISTS = ("filter_difficulty", "filter_platform")


def with_settings(*keys: str) -> Callable[[Command], Command]:
    """Give a command a flag for each setting, after its own parameters.

    Args:
        keys: keys of the spec.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        flags = [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(key)
            )
            for key in keys
        ]
        mine = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for each in own
            if each.name != "settings"
        ]
        if len(mine) + len(flags) > MOST_FLAGS:
            flags.append(HELP_ALL)

        @wraps(command)
        def called(**values: Any) -> Any:
            values.pop(HELP_ALL.name, None)
            settings = given_settings({key: values.pop(key) for key in keys})
            return command(settings=settings, **values)

        called.__signature__ = inspect.Signature([*mine, *flags])  # pyright: ignore[reportAttributeAccessIssue] - typer reads it
        called.__annotations__ = {}
        return called

    return decorate


def given_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given settings in the format of a spec."""
    given = {key: value for key, value in values.items() if value is not None and value != []}
    for key in _COMMA_LISTS:
        if key in given:
            words = [word.strip() for item in given[key] for word in item.split(",")]
            given[key] = [word for word in words if word] or [""]
    if "price" in given:
        given["price"] = read_price(given["price"])
    return given


def _annotation(key: str) -> Any:
    annotation: Any = Annotated[_kind(key) | None, option(key)]
    return annotation if SETTINGS[key].common else Annotated[annotation, ADVANCED]


def option(key: str) -> Any:
    """Return the option of a setting."""
    setting = SETTINGS[key]
    names = setting.names or (_flag(key, _kind(key)),)
    return typer.Option(
        *names,
        help=_help(key),
        rich_help_panel=setting.panel,
        metavar=setting.metavar,
        autocompletion=_COMPLETERS.get(key),
    )


def _flag(key: str, kind: Any) -> str:
    word = key.replace("_", "-")
    return f"--{word}/--no-{word}" if kind is bool and default_of(key) is True else f"--{word}"


def _kind(key: str) -> Any:
    """Return the type of a flag's value; other types are parsed by the spec."""
    annotation = RunSpec.model_fields[key].annotation
    kinds = {each for each in (get_args(annotation) or (annotation,)) if each is not type(None)}
    if get_origin(annotation) is tuple:
        return list[str]
    simple = kinds & {bool, int, float}
    return next(iter(simple)) if len(kinds) == 1 and simple else str


def _help(key: str) -> str:
    """Return the help of a setting, with its default if it has one."""
    default = default_of(key)
    text = SETTINGS[key].help
    if default is not None and default != [] and not isinstance(default, bool):
        text += f" [default: {default}]"
    return text


def read_price(text: str) -> dict[str, float | None]:
    """Parse `IN,OUT[,CACHED]`, US dollars per million tokens. Raises UsageError."""
    try:
        price, output, *cached = (float(part) for part in text.split(","))
        (cached_input,) = cached or (None,)
    except ValueError as error:
        raise UsageError(f"--price {text!r}: give dollars per million tokens, as 2.5,10") from error
    return {"input": price, "output": output, "cached_input": cached_input}
