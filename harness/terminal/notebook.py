"""How results are shown: by rich on a terminal, as HTML in a notebook."""

from dataclasses import dataclass
from io import StringIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

WIDTH = 120
FORMAT = '<pre style="white-space:pre;overflow-x:auto;line-height:1.3;margin:0">{code}</pre>'


@dataclass(frozen=True, slots=True)
class Literal:
    """A view whose texts are printed as they are, whatever the console makes of others.

    They are of models and data sets: what looks like markup in them is none.
    """

    view: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plain = _console(options.max_width, force_terminal=console.is_terminal)
        yield from plain.render(self.view, options.update(markup=False, highlight=False))


class NotebookView:
    """A base for what has one view, and is shown by it on a terminal and in a notebook."""

    def view(self) -> RenderableType:
        """What is shown."""
        raise NotImplementedError

    def __rich__(self) -> RenderableType:
        """What rich prints."""
        return Literal(self.view())

    def _repr_html_(self) -> str:
        """The same as HTML, for notebooks; every text in it is escaped."""
        return html_of(self.view())


def html_of(view: RenderableType) -> str:
    """A view as HTML that stands by itself: no script, no link, no style but its own."""
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
