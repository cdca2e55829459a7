"""Problems whose verdict cannot be trusted, as LiveCodeBench's own errata list them.

`many_answers`: several outputs are right and the tests accept one of them, so a right solution may
fail. `interactive`: the solution would have to talk to a judge, so none can pass. `wrong_tests`: a
test is wrong or breaks the constraints, so a right solution fails.

Source: ERRATA.md of https://github.com/LiveCodeBench/LiveCodeBench. LeetCode's problems are listed
there by slug, which is their `question_title` in the data.
"""

from types import MappingProxyType

_NAMES = {
    "many_answers": (
        "abc311_c",
        "abc326_d",
        "abc327_b",
        "abc333_e",
        "abc343_a",
        "abc343_e",
        "abc362_c",
        "arc185_c",
        "find-the-peaks",
        "find-words-containing-character",
        "generate-binary-strings-without-adjacent-zeros",
    ),
    "interactive": ("abc337_e", "abc355_e"),
    "wrong_tests": (
        "abc350_c",
        "apply-operations-to-make-string-empty",
        "arc189_a",
        "most-frequent-ids",
    ),
}

LIVECODEBENCH = MappingProxyType(
    {name: (reason,) for reason, names in _NAMES.items() for name in names}
)
"""Question id or slug to the reasons why its verdicts mislead."""


def known_issues(*names: str) -> tuple[str, ...]:
    """The reasons against a LiveCodeBench problem that goes by any of these ids or slugs."""
    reasons = (reason for name in names for reason in LIVECODEBENCH.get(name, ()))
    return tuple(dict.fromkeys(reasons))
