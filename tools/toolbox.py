"""The tools of a run: their descriptions for providers, and execution of calls."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from harness.models.protocol import ToolCall, ToolMessage, ToolSpec
from harness.text import shorten, writable
from harness.tools.workspace import Workspace

LONGEST_ERROR = 1_000


class Arguments(BaseModel):
    """A tool's arguments; unknown arguments are an error."""

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

    @cached_property
    def hash(self) -> str:
        """Hash that changes with anything the model is told about the tools."""
        words = "\n".join(spec.model_dump_json() for spec in self.specs)
        return hashlib.sha256(words.encode()).hexdigest()

    async def call(self, call: ToolCall, workspace: Workspace) -> ToolMessage:
        """Execute a call; any error becomes an error result for the model."""
        try:
            tool = self._tools.get(call.name)
            if tool is None:
                known = ", ".join(self._tools)
                raise MalformedCallError(
                    f"There is no tool {call.name[:100]!r}. The tools are: {known}."
                )
            content = await tool.call(workspace, _parse(tool, call.arguments))
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


def _encoded_again(text: str) -> Any:
    """Return the JSON inside a JSON string, or the string."""
    try:
        return from_json(text)
    except ValueError:
        return text


def _parse(tool: Tool[Any], text: str) -> Arguments:
    try:
        values: Any = from_json(text) if text.strip() else None
        if isinstance(values, str):  # some models encode the arguments twice
            values = _encoded_again(values)
    except ValueError as error:
        raise MalformedCallError(
            f"The arguments of {tool.name} are not valid JSON ({error}). Call it again with a JSON "
            f'object; inside strings write newlines as \\n and quotes as \\".'
        ) from error
    try:
        return tool.arguments.model_validate({} if values is None else values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
            if item["loc"]
            else "a JSON object is expected"
            for item in error.errors()
        )
        raise MalformedCallError(
            shorten(f"The arguments of {tool.name} do not fit: {problems}.", LONGEST_ERROR)
        ) from error
