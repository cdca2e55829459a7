"""The providers that have a client here, as data: one line in `PROVIDERS` adds another."""

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import urlsplit

from harness import plugins
from harness.errors import UsageError

PYTHON_PREFIX = "python:"
REPLAY_PREFIX = "replay:"
AGENT_PREFIX = "agent:"  # an agent of the user's own, whose model is its own affair
REFERENCES = "references"  # a data set's own solutions
REPOSITORY = "ORG/MODEL"  # the shape of a name on the Hugging Face hub


class Protocol(StrEnum):
    """What is spoken at an endpoint."""

    CHAT_COMPLETIONS = "chat completions"
    RESPONSES = "responses"
    MESSAGES = "messages"

    @property
    def path(self) -> str:
        """What its SDK appends to a base URL."""
        return _PATHS[self]


Api = Literal["chat", "responses", "messages"]
ToolProtocol = Literal["auto", "native", "text"]
"""How a model is told of its tools; `auto`: natively, in text where the endpoint refuses that."""
"""How `--api` calls a protocol."""

APIS: dict[Api, Protocol] = {
    "chat": Protocol.CHAT_COMPLETIONS,
    "responses": Protocol.RESPONSES,
    "messages": Protocol.MESSAGES,
}

_PATHS = {
    Protocol.CHAT_COMPLETIONS: "/chat/completions",
    Protocol.RESPONSES: "/responses",
    Protocol.MESSAGES: "/v1/messages",
}


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models are served.

    Attributes:
        title: as people call it.
        prefix: a name that begins with it is this provider's, and is sent without it.
        base_url: what the SDK appends its path to.
        keys: the variables where its key may stand, the first that has a value counts; empty where
            none is needed.
        names: shapes of the names that are this provider's without a prefix; `*` is any characters
            but a slash.
        batches: whether it takes requests by the batch as OpenAI or Anthropic do.
        also: other protocols that are spoken there.
        refuses: settings that its protocol has elsewhere, and that it refuses or passes over.
    """

    title: str
    prefix: str
    base_url: str
    protocol: Protocol
    keys: tuple[str, ...]
    names: tuple[str, ...] = ()
    batches: bool = False
    also: tuple[Protocol, ...] = ()
    refuses: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The host of its own address."""
        return urlsplit(self.base_url).hostname or ""

    def serves(self, name: str) -> bool:
        """Whether a name without a prefix is this provider's by its shape."""
        if REPOSITORY in self.names:
            return re.fullmatch(r"[^\s/]+/[^\s/]+", name) is not None
        return "/" not in name and any(fnmatchcase(name, shape) for shape in self.names)


OPENAI = Provider(
    title="OpenAI",
    prefix="openai/",
    base_url="https://api.openai.com/v1",
    protocol=Protocol.RESPONSES,
    keys=("OPENAI_API_KEY",),
    names=("gpt-*", "o1", "o1-*", "o3", "o3-*", "o4", "o4-*"),
    batches=True,
    also=(Protocol.CHAT_COMPLETIONS,),
    refuses=("top_k", "min_p"),
)

# Its names are OpenAI's models that do not reason: the Responses client asks for encrypted
# reasoning, and these models refuse that with HTTP 400.
OPENAI_CHAT = Provider(
    title="OpenAI, chat completions",
    prefix="openai-chat/",
    base_url=OPENAI.base_url,
    protocol=Protocol.CHAT_COMPLETIONS,
    keys=OPENAI.keys,
    names=("gpt-3.5*", "gpt-4*", "gpt-5-chat*", "chatgpt-*"),
    batches=True,
    also=(Protocol.RESPONSES,),
    refuses=OPENAI.refuses,
)

PROVIDERS = (  # a name is the first one's whose shapes it has
    OPENAI_CHAT,
    OPENAI,
    Provider(
        title="Anthropic",
        prefix="anthropic/",
        base_url="https://api.anthropic.com",
        protocol=Protocol.MESSAGES,
        keys=("ANTHROPIC_API_KEY",),
        names=("claude*",),
        batches=True,
    ),
    Provider(
        title="Gemini",
        prefix="gemini/",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai/",
        protocol=Protocol.CHAT_COMPLETIONS,
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        names=("gemini*",),
        refuses=("top_k", "min_p"),
    ),
    Provider(
        title="Hugging Face",
        prefix="hf/",
        base_url="https://router.huggingface.co/v1",
        protocol=Protocol.CHAT_COMPLETIONS,
        keys=("HF_TOKEN",),
        names=(REPOSITORY,),
        also=(Protocol.RESPONSES,),
    ),
    Provider(
        title="Ollama",
        prefix="ollama/",
        base_url="http://localhost:11434/v1",
        protocol=Protocol.CHAT_COMPLETIONS,
        keys=(),
        also=(Protocol.RESPONSES, Protocol.MESSAGES),
        refuses=("top_k", "min_p", "service_tier"),  # its server passes over them
    ),
)


def by_prefix(name: str) -> Provider | None:
    """The provider whose prefix a name has."""
    return next((each for each in PROVIDERS if name.startswith(each.prefix)), None)


def by_shape(name: str) -> Provider | None:
    """The provider whose names have the shape of this one."""
    return next((each for each in PROVIDERS if each.serves(name)), None)


def is_at(base_url: str, host: str) -> bool:
    """Whether an address is at a host, or at one of its regions, as `eu.HOST`."""
    name = urlsplit(base_url).hostname or ""
    return name == host or name.endswith("." + host)


def by_address(base_url: str, model: str) -> Provider | None:
    """The provider whose own host an address is at; None for a server of anybody else's."""
    found = [each for each in PROVIDERS if each.keys and is_at(base_url, each.host)]
    served = (each for each in found if each.serves(model.removeprefix("ft:")))
    return next(served, found[-1] if found else None)


def unknown(name: str) -> UsageError:
    """The error for a name that is nobody's: the nearest that is possible, and all the others."""
    prefixes = [*(each.prefix for each in PROVIDERS), PYTHON_PREFIX, REPLAY_PREFIX]
    shapes = [shape for each in PROVIDERS for shape in each.names]
    by_head = {_head(each): each for each in (*shapes, *prefixes)}
    near = difflib.get_close_matches(_head(name.lower()), by_head, n=1, cutoff=0.5)
    hint = f"the nearest is {by_head[near[0]]}; " if near else ""
    return UsageError(
        f"model {name[:100]!r} is no provider's name; {hint}possible are {', '.join(shapes)}, names"
        f" after {', '.join(prefixes)}, {_of_plugins()}and any name with --base-url"
    )


def _of_plugins() -> str:
    known = plugins.known(plugins.MODELS, ())
    return f"those of plug-ins: {known}, " if known else ""


def _head(name: str) -> str:
    """The part of a name that tells whose it is."""
    return re.split(r"[-/:*.]", name.removesuffix("-*"), maxsplit=1)[0] or name
