"""Flags of commands, generated from the settings of a run.

A command with settings has a parameter `settings`, the given ones, and is decorated with
`with_settings(…)`, which names them. Their flags are derived from the declarations in
`harness.run.settings`. A command with settings that have no flag takes them with `--set KEY=VALUE`.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from harness.cli import completion
from harness.cli.help_page import ADVANCED, HelpAll, KeyOnly
from harness.errors import UsageError
from harness.run.settings.given import Given, given_settings
from harness.run.settings.problem_settings import ProblemSettings
from harness.run.settings.spec import LISTS, SET, SETTINGS, RunSpec, default_of, flag_of
from harness.run.settings.unknown_keys import refuse_unknown

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
SETS = "texts"
"""Parameter of `--set`."""
HELP_ALL = inspect.Parameter(
    "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll
)


def with_settings(*keys: str, more: Iterable[str] = ()) -> Callable[[Command], Command]:
    """Give a command a flag for each setting that has one, after its own parameters.

    If there are settings without a flag, it gets `--set`, which takes all of its settings.

    Args:
        keys: keys of the spec.
        more: further keys, which only `--set` takes.
    """
    flags = [key for key in keys if not SETTINGS[key].key_only]
    settable = (*keys, *(key for key in more if key not in keys))

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for each in own
            if each.name != "settings"
        ]
        parameters += [_parameter(key, _annotation(key)) for key in flags]
        if len(flags) < len(settable):
            parameters.append(_parameter(SETS, _set_option(settable)))
        if len(parameters) > MOST_FLAGS:
            parameters.append(HELP_ALL)

        @wraps(command)
        def called(**values: Any) -> Any:
            values.pop(HELP_ALL.name, None)
            given = given_settings({key: values.pop(key) for key in flags})
            settings = with_set(given, values.pop(SETS, None) or (), settable)
            return command(settings=settings, **values)

        called.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue] - typer reads it
        called.__annotations__ = {}
        called.key_only = key_only(settable, flags)  # pyright: ignore[reportAttributeAccessIssue] - the help reads it
        return called

    return decorate


def key_only(keys: Iterable[str], flags: Collection[str]) -> KeyOnly:
    """Return the keys that have no flag among some, and the former flags of those that had one."""
    alone = tuple(key for key in keys if key not in flags)
    former: dict[str, str] = {}
    for key in alone:
        if SETTINGS[key].key_only:
            flags_then = _flag(key, _kind(key)).split("/")
            values = ("true", "false") if _kind(key) is bool else ("...",)
            former |= {f: f"{SET} {key}={v}" for f, v in zip(flags_then, values, strict=False)}
    return KeyOnly(alone, former)


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _set_option(keys: Collection[str]) -> Any:
    """Return the option `--set` of a command that takes some keys."""

    def completed(incomplete: str) -> list[str]:
        return complete_set(incomplete, keys)

    option = typer.Option(
        SET,
        help="A setting by its key, as max_turns=5; flags win over it. Repeat.",
        metavar="KEY=VALUE",
        autocompletion=completed,
    )
    return Annotated[list[str] | None, option]


def with_set(
    settings: Mapping[str, Any], texts: Iterable[str], keys: Collection[str] = RunSpec.model_fields
) -> Given:
    """Return the settings of flags, and below them those of `--set KEY=VALUE`.

    Args:
        settings: the given settings.
        texts: the values of `--set`; a key whose value is a list may be repeated.
        keys: the keys that the command takes.

    Raises:
        UsageError: a text is no KEY=VALUE, or its key is unknown or repeated.
    """
    values: dict[str, Any] = {}
    for text in texts:
        word, equals, value = text.partition("=")
        key = word.strip().replace("-", "_")
        if key in SETTINGS and not value:
            value = _metavar(key) or "VALUE"
            raise UsageError(f"{SET} {text[:100]}: give {key}={value}. {SETTINGS[key].help}")
        if not (equals and key and value):
            raise UsageError(f"{SET} {text[:100]}: give KEY=VALUE, as max_turns=5")
        refuse_unknown([key], RunSpec.model_fields, SET)
        if key not in keys:
            hint = "" if SETTINGS[key].key_only else f"; it may have the flag {flag_of(key)}"
            raise UsageError(f"{SET} {key}: this command has no such key{hint}")
        if key not in LISTS and key in values:
            raise UsageError(f"{SET} {key} is given twice")
        values[key] = [*values.get(key, ()), value] if key in LISTS else value
    read = given_settings(values, f"{SET} price")
    return Given(settings, {}).over(Given(read, {key: f"{SET} {key}" for key in read}))


def complete_set(incomplete: str, keys: Collection[str] = RunSpec.model_fields) -> list[str]:
    """Complete `KEY=VALUE`: some keys, and the values of those that have a list of them."""
    word, equals, value = incomplete.partition("=")
    if not equals:
        return [f"{key}=" for key in keys if key.startswith(word)]
    key = word.replace("-", "_")
    values = _COMPLETERS[key](value) if key in _COMPLETERS else _choices(key)
    return [f"{word}={each}" for each in values if each.startswith(value)]


def _choices(key: str) -> list[str]:
    """Return the words that a setting's value may be, if it is one of a few."""
    if key not in RunSpec.model_fields:
        return []
    return ["true", "false"] if _kind(key) is bool else _words(key)


def _words(key: str) -> list[str]:
    """Return the values of a setting that has one of a few words."""
    kind = RunSpec.model_fields[key].annotation
    kinds = (kind, *get_args(kind))
    return [str(each) for of in kinds if get_origin(of) is Literal for each in get_args(of)]


def _metavar(key: str) -> str | None:
    """Return what stands for a value in the help: its words where it has a few of them."""
    return SETTINGS[key].metavar or "|".join(_words(key)) or None


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
        metavar=_metavar(key),
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
