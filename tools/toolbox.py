"""The tools of a run: their descriptions for providers, and execution of calls."""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from harness.excerpts import shorten
from harness.models.protocol import ToolCall, ToolMessage, ToolSpec
from harness.models.text_tools.arguments import End, read_object
from harness.models.text_tools.calls import code_tags, sole_text, tool_name
from harness.models.text_tools.repair import Unreadable, fields_of
from harness.models.text_tools.wording import LEFT_OUT, like_this
from harness.text import writable
from harness.tools.workspace import Workspace

LONGEST_ERROR = 1_000
UNNAMED = "arguments"
"""Name of what is given to a tool without arguments and is not a JSON object."""
LONGEST_NAME, MOST_NAMES = 40, 8
"""Names of arguments that a result says were left out."""


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
    """A tool that the model may call."""

    @property
    def name(self) -> str:
        """Name in calls by the model."""
        ...

    @property
    def description(self) -> str:
        """Description for the model."""
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

    Attributes:
        specs: descriptions of the tools for a provider.
    """

    def __init__(self, tools: Sequence[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.specs = tuple(
            ToolSpec(
                name=tool.name, description=tool.description, parameters=_schema(tool.arguments)
            )
            for tool in tools
        )
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
        self, call: ToolCall, workspace: Workspace, *, in_text: bool = False, end: End = End.MARKED
    ) -> ToolMessage:
        """Execute a call; any error becomes an error result for the model.

        Args:
            call: the call.
            workspace: what the tools work on.
            in_text: whether tools are called in text, as the example in an error is.
            end: what is known of the end of the call's arguments.
        """
        try:
            tool = self._tools.get(self.named(call.name))
            if tool is None:
                known = ", ".join(self._tools)
                raise MalformedCallError(
                    f"There is no tool {call.name[:100]!r}. The tools are: {known}."
                )
            spec = self._specs[tool.name]
            arguments, extra = _parse(tool, spec, call.arguments, in_text=in_text, end=end)
            content = await tool.call(workspace, arguments)
            if extra:
                names = ", ".join(name[:LONGEST_NAME] for name in extra[:MOST_NAMES])
                content += f"\n\n{LEFT_OUT.format(tool=tool.name, names=names)}"
        except ToolError as error:
            return ToolMessage(
                call_id=call.id,
                name=call.name,
                content=writable(str(error)),
                is_error=True,
                malformed=isinstance(error, MalformedCallError),
            )
        return ToolMessage(call_id=call.id, name=call.name, content=writable(content))


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


def _parse(
    tool: Tool[Any], spec: ToolSpec, text: str, *, in_text: bool, end: End
) -> tuple[Arguments, list[str]]:
    """Return a call's arguments, and the names of those that the tool does not take.

    A tool without arguments takes any JSON in their place, and in text any words.
    """
    takes_none = not _names(tool) and tool.arguments.model_config.get("extra") == "forbid"
    try:
        values: Any = from_json(text) if text.strip() else {}
        if isinstance(values, str):  # some models encode the arguments twice
            values = _encoded_again(values, spec, end)
    except ValueError as error:
        if takes_none and in_text and not text.lstrip().startswith("{"):
            return tool.arguments.model_validate({}), [UNNAMED]
        values = _repaired(text, spec, end, error, in_text=in_text)
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
        words = shorten(f"The arguments of {tool.name} do not fit: {problems}.", LONGEST_ERROR)
        raise MalformedCallError(f"{words} {like_this(spec, in_text=in_text)}") from error


def _with_renamed_text(fields: dict[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """Return arguments in which a tool's one text has its name: it may have come under another.

    One line in place of code may be a file's name, and is none.
    """
    key = sole_text(spec)
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


def _repaired(
    text: str, spec: ToolSpec, end: End, cause: ValueError, *, in_text: bool
) -> dict[str, Any]:
    """Return arguments that are no JSON. Raises MalformedCallError."""
    try:
        values = read_object(text, spec, end)
        json.dumps(values, ensure_ascii=False).encode()  # a lone surrogate is not text
    except (Unreadable, UnicodeEncodeError):
        raise MalformedCallError(
            f"The arguments of {spec.name} are not valid JSON ({cause}). "
            f"{like_this(spec, in_text=in_text)}"
        ) from cause
    return values


def _names(tool: Tool[Any]) -> set[str]:
    fields = tool.arguments.model_fields
    return {*fields, *(field.alias for field in fields.values() if field.alias)}
