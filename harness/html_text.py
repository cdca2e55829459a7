"""The text of some HTML, and templates of pages."""

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_BLOCKS = {"p", "div", "h1", "h2", "h3", "h4", "ul", "ol", "table", "tr", "pre", "section", "br"}
_UNSEEN = {"script", "style", "head", "title"}


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.unseen = 0
        self.preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.unseen += tag in _UNSEEN
        if tag == "pre":
            self.parts.append("\n\n```\n")
            self.preformatted += 1
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in {"sup", "sub"}:
            self.parts.append("^" if tag == "sup" else "_")
        elif tag in _BLOCKS:
            self.parts.append("\n" if tag in {"br", "tr"} else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        self.unseen = max(0, self.unseen - (tag in _UNSEEN))
        if tag == "pre":
            self.parts.append("\n```\n\n")
            self.preformatted = max(0, self.preformatted - 1)
        elif tag in _BLOCKS - {"br"}:
            self.parts.append("\n\n" if tag != "tr" else "")
        elif tag in {"td", "th"}:
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.parts.append(data if self.preformatted else re.sub(r"\s+", " ", data))


def html_text(html: str) -> str:
    """Return the text of some HTML; malformed HTML is read as a browser would."""
    reader = _HtmlReader()
    reader.feed(html)
    reader.close()
    text = re.sub(r"[ \t]+\n", "\n", "".join(reader.parts))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def page_templates(package: str, **settings: Any) -> "Environment":
    """Return the templates of a package's pages, in which all values are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
