"""Display of results: by rich on a terminal, as HTML in a notebook."""

from dataclasses import dataclass
from io import StringIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

WIDTH = 120
FORMAT = '<pre style="white-space:pre;overflow-x:auto;line-height:1.3;margin:0">{code}</pre>'


@dataclass(frozen=True, slots=True)
class Literal:
    """A view whose texts are printed literally, whatever the console's settings.

    The texts come from models and data sets, and may contain what looks like markup.
    """

    view: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plain = _console(options.max_width, force_terminal=console.is_terminal)
        yield from plain.render(self.view, options.update(markup=False, highlight=False))


class NotebookView:
    """Base class of objects with one view, for terminals and notebooks."""

    def view(self) -> RenderableType:
        """Return the renderable to display."""
        raise NotImplementedError

    def __rich__(self) -> RenderableType:
        """Return what rich prints."""
        return Literal(self.view())

    def _repr_html_(self) -> str:
        """Return the view as HTML for notebooks; all texts are escaped."""
        return html_of(self.view())


def html_of(view: RenderableType) -> str:
    """Return a view as self-contained HTML: no scripts, no links, inline styles."""
    console = _console(WIDTH, record=True)
    console.print(view, crop=False)
    return console.export_html(inline_styles=True, code_format=FORMAT)


def _console(width: int, *, record: bool = False, force_terminal: bool = False) -> Console:
    return Console(
        record=record,
        file=StringIO(),
        width=width,
        force_terminal=force_terminal,
        markup=False,
        highlight=False,
        emoji=False,
    )
