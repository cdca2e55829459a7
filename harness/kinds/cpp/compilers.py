"""Whether programs of the data can be compiled here."""

from harness.errors import DataError
from harness.languages.known import language
from harness.languages.language import MissingCompilerError


def require_compiler(name: str, where: str, field: str | None) -> None:
    """Check that a language can be compiled.

    Args:
        name: the language; one without a compiler needs none.
        where: what needs it, for errors.
        field: the same, within it.

    Raises:
        DataError: there is no compiler.
    """
    own = language(name)
    try:
        if own.compiler is not None:
            own.compiler()
    except MissingCompilerError as error:
        raise DataError(where, field, f"it is {own.title}, and there is {error}") from None
