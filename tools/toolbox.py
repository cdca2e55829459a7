"""The tools of a run: how a provider is told of them, and how a call becomes a result."""

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from harness.models.protocol import ToolCall, ToolMessage, ToolSpec
from harness.text import shorten, writable
from harness.tools.workspace import Workspace

LONGEST_ERROR = 1_000


class Arguments(BaseModel):
    """A tool's arguments; what the tool does not know is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoArguments(Arguments):
    """For tools that take none."""


class ToolError(Exception):
    """A call that could not be carried out; its message tells the model what to do."""


class MalformedCallError(ToolError):
    """A call that could not be understood."""


A_contra = TypeVar("A_contra", bound=Arguments, contravariant=True)


class Tool(Protocol[A_contra]):
    """Something the model may call."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def description(self) -> str:
        """What the model is told of it."""
        ...

    @property
    def arguments(self) -> type[Arguments]:
        """The model of its arguments, from which the JSON schema is made."""
        ...

    async def call(self, workspace: Workspace, arguments: A_contra) -> str:
        """Do it; the text goes back to the model. Raises ToolError."""
        ...


class Toolbox:
    """A fixed set of tools; every call of one gets exactly one result, whatever was called.

    Attributes:
        specs: the tools as a provider is told of them.
    """

    def __init__(self, tools: Sequence[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.specs = tuple(
            ToolSpec(
                name=tool.name, description=tool.description, parameters=_schema(tool.arguments)
            )
            for tool in tools
        )

    @property
    def hash(self) -> str:
        """Changes whenever what a model is told of the tools does."""
        words = "\n".join(spec.model_dump_json() for spec in self.specs)
        return hashlib.sha256(words.encode()).hexdigest()

    async def call(self, call: ToolCall, workspace: Workspace) -> ToolMessage:
        """Carry one call out; whatever is wrong with it goes back to the model as an error."""
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
    """The JSON schema without the titles that pydantic adds, which tell a model nothing."""
    schema = arguments.model_json_schema()
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    for field in properties.values():
        field.pop("title", None)
    shared = {"$defs": schema["$defs"]} if "$defs" in schema else {}  # of nested arguments
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
        **shared,
    }


def _encoded_again(text: str) -> Any:
    """The JSON that a JSON string holds, or the string."""
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
