"""The tools of a run: their descriptions for providers, and execution of calls."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from harness.excerpts import shorten
from harness.languages import PYTHON
from harness.models.protocol import ToolCall, ToolMessage, ToolSpec
from harness.models.text_tools.arguments import End, read_object
from harness.models.text_tools.calls import (
    code_tags,
    placeholder_of,
    properties_of,
    tool_name,
)
from harness.models.text_tools.repair import Unreadable, fields_of
from harness.text import writable
from harness.tools.workspace import Texts, Workspace

LONGEST_ERROR = 1_000
LONGEST_UNKNOWN = 100
UNNAMED = "arguments"
"""Name of what is given to a tool without arguments and is not a JSON object."""
LONGEST_NAME, MOST_NAMES = 40, 8
"""Names of arguments that a result says were left out."""
_VALUES: Mapping[str, Any] = {
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


class Arguments(BaseModel):
    """A tool's arguments; unknown ones are left out, and the result says so."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoArguments(Arguments):
    """Arguments of tools that take none."""


class ToolError(Exception):
    """A call could not be executed; the message tells the model what to do."""


class MalformedCallError(ToolError):
    """A call could not be parsed."""


A_contra = TypeVar("A_contra", bound=Arguments, contravariant=True)


class Tool(Protocol[A_contra]):
    """A tool that the model may call.

    A user's own tool has a `description`; a built-in one is described by the prompt set.
    """

    @property
    def name(self) -> str:
        """Name in calls by the model."""
        ...

    @property
    def arguments(self) -> type[Arguments]:
        """Model class of the arguments, from which the JSON schema is made."""
        ...

    async def call(self, workspace: Workspace, arguments: A_contra) -> str:
        """Execute the call; return text for the model. Raises ToolError."""
        ...


class Toolbox:
    """A fixed set of tools; every call gets exactly one result, even an unknown one.

    Args:
        tools: the tools.
        texts: describes the built-in ones; None where all are a user's own.
        language: language of the code that built-in tools take.

    Attributes:
        specs: descriptions of the tools for a provider.
    """

    def __init__(
        self, tools: Sequence[Tool[Any]] = (), texts: Texts | None = None, language: str = PYTHON
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.specs = tuple(_spec(tool, texts, language) for tool in tools)
        self._specs = {spec.name: spec for spec in self.specs}

    @cached_property
    def hash(self) -> str:
        """Hash that changes with anything the model is told about the tools."""
        words = "\n".join(spec.model_dump_json() for spec in self.specs)
        return hashlib.sha256(words.encode()).hexdigest()

    def named(self, name: str) -> str:
        """Return the tool that a name in a call means, or the name."""
        return tool_name(name, self._specs)

    def spec(self, name: str) -> ToolSpec | None:
        """Return the description of the tool that a name in a call means."""
        return self._specs.get(self.named(name))

    async def call(
        self, call: ToolCall, workspace: Workspace, *, end: End = End.MARKED
    ) -> ToolMessage:
        """Execute a call; any error becomes an error result for the model.

        Args:
            call: the call.
            workspace: what the tools work on.
            end: what is known of the end of the call's arguments.
        """
        try:
            tool = self._tools.get(self.named(call.name))
            if tool is None:
                raise MalformedCallError(
                    workspace.say(
                        "unknown_tool", name=call.name[:LONGEST_UNKNOWN], known=list(self._tools)
                    )
                )
            spec = self._specs[tool.name]
            try:
                arguments, extra = _parse(tool, spec, call.arguments, end)
            except _UnfitError as unfit:
                said = workspace.say(
                    "misfit" if unfit.is_json else "not_json",
                    tool=tool.name,
                    error=str(unfit),
                    example=example_of(spec),
                )
                raise MalformedCallError(said) from unfit
            content = await tool.call(workspace, arguments)
            if extra:
                names = [name[:LONGEST_NAME] for name in extra[:MOST_NAMES]]
                content = workspace.say("left_out", result=content, tool=tool.name, names=names)
        except ToolError as error:
            return ToolMessage(
                call_id=call.id,
                name=call.name,
                content=writable(str(error)),
                is_error=True,
                malformed=isinstance(error, MalformedCallError),
            )
        return ToolMessage(call_id=call.id, name=call.name, content=writable(content))


class _UnfitError(Exception):
    """Arguments that are no JSON, or do not fit the tool's."""

    def __init__(self, message: str, *, is_json: bool) -> None:
        self.is_json = is_json
        super().__init__(message)


def example_of(tool: ToolSpec) -> dict[str, Any]:
    """Return example arguments of a tool: the required ones.

    Code is a comment, since small models copy a program.
    """
    required: list[str] = tool.parameters.get("required", [])
    types = {key: str(properties_of(tool)[key].get("type")) for key in required}
    examples = {"answer": "[1, 2]", "code": placeholder_of(tool)}
    return {key: examples.get(key, _VALUES.get(types[key], "VALUE")) for key in required}


def _spec(tool: Tool[Any], texts: Texts | None, language: str) -> ToolSpec:
    parameters = _schema(tool.arguments)
    own: str | None = getattr(tool, "description", None)
    if own is not None or texts is None:
        return ToolSpec(name=tool.name, description=own or "", parameters=parameters)
    for name, argument in parameters["properties"].items():
        argument["description"] = texts.render_part("describe", tool=tool.name, argument=name)
    return ToolSpec(
        name=tool.name,
        description=texts.render_part("describe", tool=tool.name, argument=""),
        parameters=parameters,
        language=language if "code" in parameters["properties"] else "",
    )


def _schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema without pydantic's titles, which do not help a model."""
    schema = arguments.model_json_schema()
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    for field in properties.values():
        field.pop("title", None)
    shared = {"$defs": schema["$defs"]} if "$defs" in schema else {}  # for nested arguments
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
        **shared,
    }


def _parse(tool: Tool[Any], spec: ToolSpec, text: str, end: End) -> tuple[Arguments, list[str]]:
    """Return a call's arguments, and the names of those that the tool does not take.

    A tool without arguments takes any JSON in their place. Raises _UnfitError.
    """
    takes_none = not _names(tool) and tool.arguments.model_config.get("extra") == "forbid"
    try:
        values: Any = from_json(text) if text.strip() else {}
        if isinstance(values, str):  # some models encode the arguments twice
            values = _encoded_again(values, spec, end)
    except ValueError as error:
        values = _repaired(text, spec, end, error)
    values = {} if values is None else values
    extra: list[str] = []
    fields = fields_of(values)
    if fields is None and takes_none:
        return tool.arguments.model_validate({}), [UNNAMED]
    if fields is not None and tool.arguments.model_config.get("extra") == "forbid":
        fields = _with_renamed_text(fields, spec)
        extra = [name for name in fields if name not in _names(tool)]
        values = {name: value for name, value in fields.items() if name not in extra}
    try:
        return tool.arguments.model_validate(values), extra
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
            if item["loc"]
            else "a JSON object is expected"
            for item in error.errors()
        )
        raise _UnfitError(shorten(problems, LONGEST_ERROR), is_json=True) from error


def _with_renamed_text(fields: dict[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """Return arguments in which a tool's one text has its name: it may have come under another.

    One line in place of code may be a file's name, and is none.
    """
    key = spec.sole_text
    if key is None or key in fields or len(fields) != 1:
        return fields
    (text,) = fields.values()
    is_text = isinstance(text, str) and ("\n" in text.strip() or not code_tags(spec))
    return {key: text} if is_text else fields


def _encoded_again(text: str, spec: ToolSpec, end: End) -> Any:
    """Return the arguments inside a JSON string, or the string."""
    try:
        return from_json(text)
    except ValueError:
        pass
    try:
        return read_object(text, spec, end) if text.lstrip().startswith("{") else text
    except Unreadable:
        return text


def _repaired(text: str, spec: ToolSpec, end: End, cause: ValueError) -> dict[str, Any]:
    """Return arguments that are no JSON. Raises _UnfitError."""
    try:
        values = read_object(text, spec, end)
        json.dumps(values, ensure_ascii=False).encode()  # a lone surrogate is not text
    except (Unreadable, UnicodeEncodeError):
        raise _UnfitError(str(cause), is_json=False) from cause
    return values


def _names(tool: Tool[Any]) -> set[str]:
    fields = tool.arguments.model_fields
    return {*fields, *(field.alias for field in fields.values() if field.alias)}
