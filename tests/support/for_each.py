"""Tables of plain data whose rows one test runs."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

Row = dict[str, Any]
Test = Callable[..., Any]


def for_each(
    names: str | Sequence[str], rows: Iterable[Any], *, ids: Iterable[str] = ()
) -> Callable[[Test], Test]:
    """Run a test with every row, as one test; each row that fails is reported.

    Used like `pytest.mark.parametrize`, which makes a test of every row, and needs more time for
    that than most rows take. The rows share the test's fixtures, but each has a `tmp_path` of its
    own. A row that fails is named by `ids`, which has a name for each row, or by its values.

    Raises:
        ValueError: there are no rows, so the test would show nothing.
    """
    keys = [key.strip() for key in (names.split(",") if isinstance(names, str) else names)]
    titles = list(ids)
    single = names == keys[0]
    table = [dict(zip(keys, (row,) if single else row, strict=True)) for row in rows]
    if not table:
        raise ValueError(f"no rows of {names}")

    def decorate(test: Test) -> Test:
        def run(*self: Any, **fixtures: Any) -> None:
            with _reported(table, titles) as report:
                for number, row in enumerate(table):
                    with report(number):
                        test(*self, **_with_folder(fixtures, number), **row)

        async def run_coroutine(*self: Any, **fixtures: Any) -> None:
            with _reported(table, titles) as report:
                for number, row in enumerate(table):
                    with report(number):
                        await test(*self, **_with_folder(fixtures, number), **row)

        whole = functools.wraps(test)(run_coroutine if inspect.iscoroutinefunction(test) else run)
        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in keys]
        vars(whole)["__signature__"] = signature.replace(parameters=fixtures)
        return whole

    return decorate


@contextmanager
def _reported(table: list[Row], titles: list[str]) -> Iterator[Callable[[int], Any]]:
    """Collect the errors of rows, and raise them in the end."""
    errors: list[BaseException] = []

    @contextmanager
    def report(number: int) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised below
            title = titles[number] if titles else repr(table[number])[:300]
            error.add_note(f"in row {number + 1}, {title}")
            errors.append(error)

    yield report
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BaseExceptionGroup(f"{len(errors)} of {len(table)} rows failed", errors)


def _with_folder(fixtures: Row, number: int) -> Row:
    if "tmp_path" not in fixtures:
        return fixtures
    folder = fixtures["tmp_path"] / str(number)
    folder.mkdir()
    return {**fixtures, "tmp_path": folder}
