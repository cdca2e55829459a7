import pytest

from harness.sources.errata import LIVECODEBENCH, known_issues


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("abc311_c", "many_answers"),
        ("generate-binary-strings-without-adjacent-zeros", "many_answers"),
        ("abc355_e", "interactive"),
        ("arc189_a", "wrong_tests"),
    ],
)
def test_listed_problems_have_a_reason(name: str, reason: str) -> None:
    assert known_issues("unlisted", name) == (reason,)


def test_all_of_upstreams_list_is_there_and_nothing_else() -> None:
    reasons = [reason for found in LIVECODEBENCH.values() for reason in found]
    counts = {reason: reasons.count(reason) for reason in reasons}
    assert counts == {"many_answers": 11, "interactive": 2, "wrong_tests": 4}
    assert known_issues("abc311_d", "") == ()
