from collections.abc import Callable
from pathlib import Path

import pytest
from for_each import for_each
from packages_made import made_package
from program import harness, results
from written import link_written

from harness.errors import DataError, UsageError
from harness.grading.answer_comparison import CheckerError, _outcome
from harness.grading.rules import RuleError, find_rule, guarded
from harness.grading.verdict import Difference
from harness.plugins import RULES, SOURCES, Plugin
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sources.benchmarks import load_plugged
from harness.sources.files.rows import Loaded
from harness.sources.jsonl import load_bundled

PLUGIN = Plugin(RULES, "mine", "mine-rules", "1.0", "mine_rules:thing")
WRONG = Difference(where="here", expected="1", got="2")


def _rule(rule: Callable[[str, str], object]) -> Callable[[str, str], Difference | None]:
    return guarded(PLUGIN, rule)  # pyright: ignore[reportArgumentType] - theirs returns anything


def test_a_plug_in_rule_returns_its_own_difference() -> None:
    rule = _rule(lambda expected, got: None if expected == got else WRONG)
    assert (rule("1", "1"), rule("1", "2")) == (None, WRONG)


def test_a_rule_that_fails_on_an_odd_answer_alone_says_that_it_is_wrong() -> None:
    rule = _rule(lambda expected, got: None if int(expected) == int(got) else WRONG)
    difference = rule("1", "one")
    assert difference is not None
    assert "cannot make anything of it: ValueError" in difference.where
    assert (difference.expected, difference.got) == ("1", "one")


@for_each(
    ("rule", "words"),
    [
        (lambda expected, _: int(expected), "returned a int, not a Difference or None"),
        (lambda expected, _: int(expected + "x"), "raised ValueError"),
        (lambda *_: (_ for _ in ()).throw(SystemExit(3)), "raised SystemExit: 3"),
    ],
)
def test_a_rule_that_fails_on_the_right_answer_too_says_nothing_of_the_solution(
    rule: Callable[[str, str], object], words: str
) -> None:
    with pytest.raises(RuleError, match="package mine-rules") as caught:
        _rule(rule)("1", "1")
    assert words in str(caught.value)
    test = TestCase(input="", output="1", public=True)
    outcome = _outcome(_rule(rule), test, b"1")
    assert isinstance(outcome, CheckerError)


@pytest.mark.thorough
def test_a_failing_plug_in_rule_leaves_samples_pending_and_the_run_goes_on(tmp_path: Path) -> None:
    code = "class thing:\n    def output(expected, got): raise KeyError(got)\n    value = output\n"
    made_package(tmp_path / "site", "mine-bad", {RULES: {"mine": "thing"}}, code)
    flags = [*link_written(tmp_path), "-n", "2", "--rule", "mine", "--out", "r"]
    done = harness(tmp_path, "run", *flags, PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 4, done.stderr
    assert "2 samples pending" in done.stderr
    assert "package mine-bad" in done.stderr
    assert not results(tmp_path / "r")


def test_built_in_rules_are_not_wrapped() -> None:
    from harness.grading.rules import RULES as OURS

    assert all(find_rule(name) is OURS[name] for name in OURS)


PROBLEM = load_bundled(None).problems[0]


class _Source:
    """A plug-in that is a function of our own."""

    def __init__(self, load: Callable[..., object]) -> None:
        self.load = load

    def plugin(self, monkeypatch: pytest.MonkeyPatch) -> Plugin:
        monkeypatch.setattr(Plugin, "load", lambda _: self.load)
        return Plugin(SOURCES, "mine", "mine-source", "1.0", "mine:thing")


def _loaded(monkeypatch: pytest.MonkeyPatch, load: Callable[..., object]) -> Loaded:
    return load_plugged(_Source(load).plugin(monkeypatch), "there", skip_bad_rows=True)


def test_a_source_is_told_where_and_what_to_pass_over(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def load(where: str, *, skip_bad_rows: bool, watch: object) -> Loaded:
        asked.extend((where, skip_bad_rows, callable(watch)))
        return Loaded((PROBLEM,))

    (problem,) = _loaded(monkeypatch, load).problems
    assert asked == ["there", True, True]
    assert problem.tests.all() == PROBLEM.tests.all()
    assert problem.load_references() == PROBLEM.load_references()


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (lambda *_, **__: None, "returned a NoneType, not a harness.sources.files.rows.Loaded"),
        (lambda *_, **__: Loaded(("a",)), "returned a str among its problems"),  # pyright: ignore[reportArgumentType]
        (lambda *_, **__: Loaded((PROBLEM, PROBLEM)), f"two problems of the id '{PROBLEM.id}'"),
        (lambda: None, "raised TypeError"),
        (lambda *_, **__: 1 / 0, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_source_that_is_not_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, load: Callable[..., object], words: str
) -> None:
    with pytest.raises(UsageError, match="mine-source") as caught:
        _loaded(monkeypatch, load)
    assert words in str(caught.value)


def test_our_own_errors_keep_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object, **__: object) -> Loaded:
        raise DataError("rows.jsonl:3", "statement", "is missing")

    with pytest.raises(DataError, match=r"^rows.jsonl:3: field 'statement': is missing$"):
        _loaded(monkeypatch, load)


def test_what_fails_to_be_decoded_later_is_a_row_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def tests() -> tuple[TestCase, ...]:
        raise OSError("gone")

    def references() -> tuple[Reference, ...]:
        raise DataError("rows.jsonl:3", None, "cut short")

    suite = TestSuite(PROBLEM.tests.public, tests)
    changes = {"tests": suite, "load_references": references}
    broken: Problem = PROBLEM.model_copy(update=changes)
    (problem,) = _loaded(monkeypatch, lambda *_, **__: Loaded((broken,))).problems
    with pytest.raises(DataError, match="its hidden tests, by plug-in 'mine' of package mine-sou"):
        problem.tests.all()
    with pytest.raises(DataError, match=r"^rows.jsonl:3: cut short$"):
        problem.load_references()
