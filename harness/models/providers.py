"""Known providers, as data: one entry in `PROVIDERS` adds another."""

import difflib
import re
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from harness import plugins
from harness.errors import UsageError

PYTHON_PREFIX = "python:"
REPLAY_PREFIX = "replay:"
AGENT_PREFIX = "agent:"  # the user's own agent, which chooses its own model
REFERENCES = "references"  # a data set's own solutions
REPOSITORY = "ORG/MODEL"  # the shape of a name on the Hugging Face hub


class Protocol(StrEnum):
    """Protocol of an endpoint."""

    CHAT_COMPLETIONS = "chat completions"
    RESPONSES = "responses"
    MESSAGES = "messages"

    @property
    def path(self) -> str:
        """Path that the SDK appends to a base URL."""
        return _PATHS[self]


Api = Literal["chat", "responses", "messages"]
"""Value of `--api` for a protocol."""
ToolProtocol = Literal["auto", "native", "text"]
"""How tools are described to a model; `auto`: natively, or in text if that is refused."""

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


class Provider(NamedTuple):
    """Provider of models.

    Attributes:
        title: name for display.
        prefix: prefix of this provider's model names, which is not sent.
        base_url: base URL for the SDK.
        keys: variables that may hold the key, of which the first with a value counts; empty where
            none is needed.
        names: shapes of this provider's names without a prefix; `*` is any characters but a slash.
        batches: whether it has a batch API like that of OpenAI or Anthropic.
        also: further protocols that it supports.
        refuses: settings of the protocol that this provider refuses or ignores.
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
        """Host of its own address."""
        return urlsplit(self.base_url).hostname or ""

    def serves(self, name: str) -> bool:
        """Return whether a name without a prefix is this provider's by its shape."""
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

# Its names are OpenAI's models without reasoning: the Responses client asks for encrypted
# reasoning, which these models refuse with HTTP 400.
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

OWN_ENDPOINT = Provider(
    title="the base URL's own",
    prefix="",
    base_url="",
    protocol=Protocol.CHAT_COMPLETIONS,
    keys=OPENAI.keys,
    batches=True,  # it may; if not, its own error says so
    also=(Protocol.RESPONSES, Protocol.MESSAGES),
)
"""Whoever serves a base URL that is not a provider's; a key is sent if there is one."""

PROVIDERS = (  # the first one with a matching shape counts
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
        refuses=("top_k", "min_p", "service_tier"),  # its server ignores them
    ),
)


def by_prefix(name: str) -> Provider | None:
    """Return the provider whose prefix a name has."""
    return next((each for each in PROVIDERS if name.startswith(each.prefix)), None)


def by_shape(name: str) -> Provider | None:
    """Return the first provider whose shapes match a name."""
    return next((each for each in PROVIDERS if each.serves(name)), None)


def is_sent(name: str) -> bool:
    """Return whether a name is for a provider or plug-in, not a recording, code or agent."""
    own = (PYTHON_PREFIX, REPLAY_PREFIX, AGENT_PREFIX)
    return name != REFERENCES and not name.startswith(own)


def is_at(base_url: str, host: str) -> bool:
    """Return whether an address is at a host, or at one of its regions, as `eu.HOST`."""
    name = urlsplit(base_url).hostname or ""
    return name == host or name.endswith("." + host)


def by_address(base_url: str, model: str) -> Provider | None:
    """Return the provider whose own host an address is at; None for any other server."""
    providers = [each for each in PROVIDERS if each.keys and is_at(base_url, each.host)]
    served = (each for each in providers if each.serves(model.removeprefix("ft:")))
    return next(served, providers[-1] if providers else None)


def unknown(name: str) -> UsageError:
    """Return the error for an unknown name, with the nearest and all possible names."""
    prefixes = [*(each.prefix for each in PROVIDERS), PYTHON_PREFIX, REPLAY_PREFIX]
    shapes = [shape for each in PROVIDERS for shape in each.names]
    by_head = {_head(each): each for each in (*shapes, *prefixes)}
    near = difflib.get_close_matches(_head(name.lower()), by_head, n=1, cutoff=0.5)
    hint = f"the nearest is {by_head[near[0]]}; " if near else ""
    return UsageError(
        f"model {name[:100]!r} is not a provider's name; {hint}possible are {', '.join(shapes)}, "
        f"names after {', '.join(prefixes)}, {_of_plugins()}and any name with --base-url"
    )


def _of_plugins() -> str:
    known = plugins.known(plugins.MODELS, ())
    return f"those of plug-ins: {known}, " if known else ""


def _head(name: str) -> str:
    """Return the part of a name that identifies the provider."""
    return re.split(r"[-/:*.]", name.removesuffix("-*"), maxsplit=1)[0] or name
