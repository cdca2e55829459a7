"""Jinja2 templates in Jinja2's own sandbox, with a bound on their output.

A template cannot reach files or Python's internals. Its work is not limited: a prompt set is chosen
by its user.
"""

import hashlib
import json
import marshal
import re
import sys
from collections.abc import Mapping
from functools import cache, partial
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, compiler, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel

from harness.cache import write_whole
from harness.excerpts import shorten

LONGEST_TEMPLATE = 1_000_000
LONGEST_TEXT = 1_000_000
LONGEST_EXAMPLE = 2_000
_LONGEST_MESSAGE = 500
_LONGEST_NAME = 100
_FIRST_LINE = re.compile(r"\{#-?[ \t]*([^\n]*?)[ \t]*-?#\}[ \t]*(?:\n|\Z)")


class TemplateFaultError(Exception):
    """A template is not valid, or failed.

    Attributes:
        line: line number; None if jinja2 does not know it.
        message: description of the error, in one line.
    """

    def __init__(self, line: int | None, message: str) -> None:
        self.line = line
        self.message = message
        super().__init__(message)


def render(source: str, file: str, values: Mapping[str, Any]) -> str:
    """Render a template; surrounding whitespace is removed.

    Args:
        source: the template.
        file: name of the template.
        values: available values by name.

    Raises:
        TemplateFaultError: it is not valid, uses an unknown name or a forbidden attribute, fails,
            or makes more than `LONGEST_TEXT` characters.
    """
    if is_constant(source):
        return _constant(source, file)
    return _rendered(source, file, values)


def is_constant(source: str) -> bool:
    """Whether a template makes the same text for all values."""
    return "{{" not in source and "{%" not in source


@cache
def _constant(source: str, file: str) -> str:
    """Render a template that uses no values, such as most system prompts, only once."""
    return _rendered(source, file, {})


def _rendered(source: str, file: str, values: Mapping[str, Any]) -> str:
    length, pieces = 0, list[str]()
    try:
        for piece in _compiled(source, file).generate(values):
            length += len(piece)
            if length > LONGEST_TEXT:
                raise ValueError(  # noqa: TRY301 - the template's fault as well
                    f"it makes more than {LONGEST_TEXT:,} characters"
                )
            pieces.append(piece)
    except Exception as error:
        raise _fault(error, file) from error
    return "".join(pieces).strip()


def parse(source: str, file: str) -> nodes.Template:
    """Return the syntax tree of a valid template.

    Raises:
        TemplateFaultError: the template is not valid.
    """
    try:
        _compiled(source, file)
        return _environment().parse(source)
    except Exception as error:
        raise _fault(error, file) from error


def variables(source: str, file: str) -> set[str]:
    """Return the names of the values that a valid template uses; raises as `parse`."""
    return find_undeclared_variables(parse(source, file))


def description(source: str) -> str:
    """Return the comment in a template's first line; empty if there is none."""
    match = _FIRST_LINE.match(source)
    return match.group(1) if match else ""


def _fault(error: Exception, file: str) -> TemplateFaultError:
    """Return any exception of jinja2 as this module's error."""
    if isinstance(error, TemplateSyntaxError):
        return TemplateFaultError(error.lineno, _words(error.message))
    line = _line(error.__traceback__, file)
    return TemplateFaultError(line, _words(str(error) or type(error).__name__))


def _words(message: str | None) -> str:
    return shorten(" ".join((message or "").split()), _LONGEST_MESSAGE)


def _line(traceback: TracebackType | None, file: str) -> int | None:
    """Return the template's innermost line: jinja2 maps Python's lines to its own."""
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


@cache
def _compiled(source: str, file: str) -> Template:
    if len(source) > LONGEST_TEMPLATE:
        raise ValueError(f"it is longer than {LONGEST_TEMPLATE:,} characters")
    environment = _environment()
    return Template.from_code(environment, _code(source, file), environment.globals)


def _code(source: str, file: str) -> CodeType:
    """Compile a template, or read what an earlier process compiled.

    It is kept beside the compiled modules, one for each name, as compiling the loop's templates
    takes a tenth of a short run.
    """
    makers = [Path(each).stat() for each in (__file__, compiler.__file__)]
    versions = [(each.st_mtime_ns, each.st_size) for each in makers]
    key = hashlib.sha256(f"{versions} {source}".encode()).digest()
    name = re.sub(r"\W", "_", file)[-_LONGEST_NAME:]
    kept = Path(cache_from_source(str(Path(__file__).with_name(f"template_{name}.py"))))
    try:
        found = marshal.loads(kept.read_bytes())  # noqa: S302 - trusted as compiled modules are
    except (OSError, ValueError, EOFError, TypeError):
        found = None
    match found:
        case (bytes() as known, CodeType() as code) if known == key:
            return code
        case _:
            code = _environment().compile(source, filename=file)
            if not sys.dont_write_bytecode:
                write_whole(kept, marshal.dumps((key, code)))
            return code


@cache
def _environment() -> "_TemplateEnvironment":
    environment = _TemplateEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    # JSON without Jinja2's escapes for HTML; a text in quotes, with line breaks escaped.
    environment.filters |= {"tojson": partial(json.dumps, ensure_ascii=False), "quoted": repr}
    environment.filters["shorten"] = _shorten
    return environment


class _TemplateEnvironment(ImmutableSandboxedEnvironment):
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, BaseModel):
            return _is_shown(type(obj), attr)
        return super().is_safe_attribute(obj, attr, value)


@cache
def _is_shown(of: type[BaseModel], attr: str) -> bool:
    """Whether a template may read an attribute: methods include `parse_file`, a pickle reader."""
    return attr in of.model_fields or (
        not attr.startswith("_") and isinstance(getattr(of, attr, None), property)
    )


def _shorten(text: str, most: int = LONGEST_EXAMPLE) -> str:
    return shorten(text, most)
