"""Rewards of solutions in C++: the reward function, and TRL's environments."""

import json

import pytest
from own_problems import ECHO

from harness.features.training.reward_function import compute_score
from harness.features.training.trl import TrlSpec, harness_reward
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError

pytestmark = pytest.mark.usefixtures("kept_sandbox")

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

RIGHT = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"
WRONG = "int main() {}\n"


def test_compute_score_rewards_right_programs_in_cpp() -> None:
    tests = json.dumps({"inputs": ["1 2\n", "5 5\n"], "outputs": ["1 2\n", "5 5\n"]})
    for code, reward in ((RIGHT, 1.0), (WRONG, 0.0), ("int main() {", 0.0)):
        text = f"So:\n```cpp\n{code}\n```"
        assert compute_score("lcb", text, tests, language="cpp", workers=1) == reward


def test_trl_environments_take_cpp() -> None:
    with TrlSpec([ECHO], language="cpp", workers=1) as spec:
        environments = [spec.environment_factory() for _ in range(2)]
        assert "complete C++ source" in str(type(environments[0]).write_solution.__doc__)
        for environment, code in zip(environments, (RIGHT, WRONG), strict=True):
            environment.reset(problem_id="own/echo")
            environment.write_solution(code=code)
            environment.run_tests()
        assert harness_reward(environments) == [1.0, 0.0]
