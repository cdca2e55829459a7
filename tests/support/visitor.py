"""Reads the viewer's pages without a browser."""

import re
from pathlib import Path

from starlette.testclient import TestClient

from harness.features.viewer.server import make_app

PORT, TOKEN = 8_765, "the-token"


class Visitor:
    """A logged-in visitor, who reads pages without a browser."""

    def __init__(self, root: Path) -> None:
        self.client = TestClient(make_app(root, PORT, TOKEN), base_url=f"http://127.0.0.1:{PORT}")
        self.client.get("/", params={"token": TOKEN})

    def page(self, path: str) -> str:
        """Return an existing page."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def run(self, query: str = "") -> str:
        """Return the page of the first run in the list."""
        return self.page(self.address() + query)

    def address(self) -> str:
        """Return the address of the first run in the list."""
        return self.links(self.page("/"), "/runs/")[0]

    def sample(self, title: str, query: str = "") -> str:
        """Return the page of a sample of that run, by its title."""
        return self.page(self.where(title) + query)

    def where(self, title: str) -> str:
        """Return the address of a sample of that run."""
        match = re.search(rf'href="([^"]+)" data-item>{re.escape(title)}<', self.run())
        assert match is not None, title
        return match[1]

    @staticmethod
    def links(page: str, start: str) -> list[str]:
        """Return the addresses in a page with a given start, in order."""
        return re.findall(rf'href="({re.escape(start)}[^"]*)"', page)
