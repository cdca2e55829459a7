from datetime import date

import pytest

from harness.problem import ProblemView, Signature, TestCase


@pytest.fixture
def twice() -> ProblemView:
    return ProblemView(
        id="made/twice",
        source="made",
        title="Twice",
        statement="Print twice the number.",
        platform="made",
        difficulty="easy",
        tags=("math",),
        release_date=date(2024, 2, 29),
        starter_code="",
        entry_point=None,
        signature=Signature(),
        preamble="",
        public_tests=(TestCase(input="2\n", output="4\n", public=True),),
    )
