"""A route: where requests to a model go, and how they are made."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import urlsplit

from harness.models.addresses import shown_url
from harness.models.clients.vendor_headers import headers_of
from harness.models.environment import FoundVariable
from harness.models.providers import PROVIDERS, Api, Protocol, is_at


class Access(TypedDict, total=False):
    """How a model is to be reached, where the user says so.

    Attributes:
        api: the protocol; that of the address by default.
        api_key_env: the variable that holds the key.
        header: sent with every request, each as `NAME: VALUE`.
    """

    api: Api | None
    api_key_env: str | None
    header: Collection[str]


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests for a name go; nothing is opened yet.

    Attributes:
        name: what results are filed under.
        provider: as people call it.
        model: the name as it is sent.
        base_url: as the SDK takes it; it may hold a password.
        keys: the variables where a key may stand.
        key: what was found there.
        needs_key: whether nothing goes without one.
        batches: whether requests may go there by the batch.
        headers: what of the environment goes along, at the vendor's own host.
        own_headers: those that the user gave; their values are never shown.
        refuses: settings that the endpoint does not take, beside those that its protocol lacks.
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
        """The headers of the environment and, over them, the user's."""
        own = {name.lower() for name in self.own_headers}
        found = {k: v for k, v in headers_of(self.headers).items() if k.lower() not in own}
        return {**found, **self.own_headers}

    @property
    def remark(self) -> str:
        """A line on a vendor's key that goes to another address unasked; "" where none does."""
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
        """The endpoint's host, with the port where one is named."""
        return urlsplit(shown_url(self.base_url)).netloc

    @property
    def endpoint(self) -> str:
        """Where a request is posted to, without user name and password."""
        return shown_url(self.base_url).rstrip("/") + self.protocol.path
