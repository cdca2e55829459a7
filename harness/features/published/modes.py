"""The modes: all that the program knows of each strategy."""

from harness.agent.strategies.modes import OF_TESTS, Mode

WITH_OWN_TESTS = (*OF_TESTS, "own_tests")
"""Parts of modes in which the model writes tests."""
CODET = Mode(
    name="codet",
    title="CodeT",
    strategy="harness.features.published.codet:codet",
    parts=WITH_OWN_TESTS,
    own_parts=("tests",),
    options=("best_of", "test_answers"),
    requests=lambda options: (
        options.test_answers + options.best_of,
        options.test_answers + options.best_of,
    ),
    talks=True,
    writes_tests=True,
    python_only=True,
)
REFLEXION = Mode(
    name="reflexion",
    title="Reflexion",
    strategy="harness.features.published.reflexion:reflexion",
    parts=WITH_OWN_TESTS,
    own_parts=("tests", "reflect", "revise"),
    options=("repair_rounds",),
    requests=lambda options: (2, 2 + 2 * options.repair_rounds),
    talks=True,
    writes_tests=True,
    python_only=True,
)
MAP_CODER = Mode(
    name="map_coder",
    title="MapCoder",
    strategy="harness.features.published.map_coder:map_coder",
    parts=OF_TESTS,
    own_parts=("recall", "plan", "rate", "code", "debug"),
    options=("repair_rounds", "plans"),
    requests=lambda options: (
        2 + 2 * options.plans,
        1 + options.plans * (3 + options.repair_rounds),
    ),
    talks=True,
    python_only=True,
)
