"""Route: where requests to a model go, and by which protocol and key."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import urlsplit

from harness.models.addresses import shown_url
from harness.models.clients.vendor_headers import headers_of
from harness.models.environment import FoundVariable
from harness.models.providers import PROVIDERS, Api, Protocol, is_at


class Access(TypedDict, total=False):
    """The user's choices of how to reach a model.

    Attributes:
        api: the protocol; that of the address by default.
        api_key_env: variable that holds the key.
        header: headers of every request, each as `NAME: VALUE`.
    """

    api: Api | None
    api_key_env: str | None
    header: Collection[str]


@dataclass(frozen=True, slots=True)
class Route:
    """Destination of requests for a name; nothing is opened yet.

    Attributes:
        name: name of the model in results.
        provider: the provider's name for display.
        model: the name as it is sent.
        base_url: base URL for the SDK; it may hold a password.
        keys: variables that may hold a key.
        key: the key that was found.
        needs_key: whether a key is required.
        batches: whether the endpoint may have a batch API.
        headers: header variables of the environment, sent to the vendor's own host.
        own_headers: headers that the user gave; their values are never shown.
        refuses: settings that the endpoint does not support, in addition to those that its protocol
            lacks.
        asked_key: whether the user named the key's variable.
    """

    name: str
    provider: str
    model: str
    base_url: str
    protocol: Protocol
    keys: tuple[str, ...]
    key: FoundVariable | None
    needs_key: bool
    batches: bool = False
    headers: tuple[FoundVariable, ...] = ()
    own_headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    refuses: tuple[str, ...] = ()
    asked_key: bool = False

    @property
    def all_headers(self) -> dict[str, str]:
        """Headers of the environment, overridden by the user's."""
        own = {name.lower() for name in self.own_headers}
        found = {k: v for k, v in headers_of(self.headers).items() if k.lower() not in own}
        return {**found, **self.own_headers}

    @property
    def remark(self) -> str:
        """Note on a vendor's key sent to another address by default; "" where none is."""
        if self.key is None or self.asked_key:
            return ""
        owner = next((each for each in PROVIDERS if self.key.variable in each.keys), None)
        if owner is None or is_at(self.base_url, owner.host):
            return ""
        return (
            f"{self.key.variable} is sent to {self.host}, which is not {owner.title}'s own address;"
            " --api-key-env NAME sends another key"
        )

    @property
    def host(self) -> str:
        """Host of the endpoint, with the port if one is given."""
        return urlsplit(shown_url(self.base_url)).netloc

    @property
    def endpoint(self) -> str:
        """URL that requests are posted to, without user name and password."""
        return shown_url(self.base_url).rstrip("/") + self.protocol.path
