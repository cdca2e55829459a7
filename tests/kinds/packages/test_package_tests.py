"""Groups of tests, and what changes the verdict of one: done, or refused by name."""

import pytest
from contest_packages import Package, only
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import DataError
from harness.kinds.packages.icpc import load

GROUP = "data/secret/group"
NEWER = "problem_format_version: 2025-09\nname: Parts\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({f"{GROUP}/2.args": "--fast"}, "no command-line arguments"),
        ({f"{GROUP}/2.yaml": "args: [--fast]"}, "no command-line arguments"),
        ({f"{GROUP}/test_group.yaml": "args: [--fast]"}, "no command-line arguments"),
        ({f"{GROUP}/2.files/words.txt": "a"}, "can open no files"),
        ({f"{GROUP}/2.yaml": "arg: [x]"}, "field 'arg': unknown; known"),
        ({f"{GROUP}/testdata.yaml": "output_validator_flag: x"}, "unknown; known"),
        ({f"{GROUP}/testdata.yaml": "output_validator_flags: '\"'"}, "not valid YAML|quotes"),
        ({"data/testdata.yaml": "output_validator_flags: {name: a, flags: b}"}, "neither text nor"),
        ({f"{GROUP}/testdata.yaml": "", f"{GROUP}/test_group.yaml": ""}, "both testdata.yaml"),
        ({f"{GROUP}/test_group.yaml": "static_validation_score: 1"}, "static validators"),
        ({"static_validator/check.py": "pass"}, "static validators"),
        ({"data/sample/1.interaction": ">3"}, "type is not interactive"),
        ({"data/sample/9.interaction": ">3"}, "type is not interactive"),
        ({"include/default/driver.py": "pass"}, "added to every solution"),
        ({"include/python3/driver.py": "pass"}, "added to every solution"),
        ({f"{GROUP}/testdata.yaml": "grader_flags: sum always_accept"}, "always_accept: of a"),
        ({"data/testdata.yaml": "grader_flags: accept_if_any_accepted"}, "every test must be"),
        ({"data/secret/testdata.yaml": "grading: custom"}, "only scoring problems"),
        ({f"{GROUP}/3.in": "1\n"}, r"3\.ans: no such file"),
        ({f"{GROUP}/3.ans": "1\n"}, r"there is no 3\.in"),
    ],
)
def test_what_would_change_a_verdict_is_refused(
    package: Package, files: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load(str(package("name: Parts\n", files)))


def test_of_a_key_that_a_group_gives_twice_the_last_counts(package: Package) -> None:
    twice = "output_validator_flags: case_sensitive\noutput_validator_flags: float_tolerance 1\n"
    problem = only(package("name: Parts\n", {f"{GROUP}/testdata.yaml": twice}))
    assert problem.tests.all()[-1].flags == ("float_tolerance", "1")


@pytest.mark.parametrize(
    "files",
    [
        {f"{GROUP}/2.yaml": "description: the large one\nhint: think\nfull_feedback: false"},
        {f"{GROUP}/2.desc": "the large one", f"{GROUP}/2.png": "no picture"},
        {f"{GROUP}/testdata.yaml": "on_reject: continue\ngrader_flags: min\nrange: 0 100"},
        {"include/cpp/driver.cpp": "int main() {}"},
        {"data/sample/1.in.statement": "3", "data/sample/1.ans.statement": "1 2"},
        {"data/invalid_input/1.in": "0", "data/.DS_Store": "x"},
        {f"{GROUP}/testdata.yaml": "input_validator_flags: n=1\ninput_validator_flags: m=2\n"},
    ],
)
def test_what_changes_none_is_passed_over(package: Package, files: dict[str, str]) -> None:
    problem = only(package(NEWER, files))
    assert len(problem.tests.all()) == 2


def flags_of(package: Package, settings: str, files: dict[str, str]) -> str:
    """Return the source of the checker down to what its flags mean."""
    checker = only(package(settings, files)).checker
    assert checker is not None
    return checker.code.partition("import")[0]


def test_flags_of_the_settings_and_of_groups_add_up(package: Package) -> None:
    flags = {"data/testdata.yaml": "output_validator_flags: float_tolerance 1e-2"}
    code = flags_of(package, "validator_flags: case_sensitive\n", flags)
    assert "_ONLY = (True, False, 0.01, 0.01)" in code


def test_each_test_has_the_flags_of_its_group(package: Package) -> None:
    files = {f"{GROUP}/testdata.yaml": "output_validator_flags: case_sensitive"}
    problem = only(package("validator_flags: space_change_sensitive\n", files))
    assert problem.checker is not None
    assert problem.checker.takes_flags
    assert [test.flags for test in problem.tests.all()] == [
        ("space_change_sensitive",),
        ("space_change_sensitive", "case_sensitive"),
    ]


def test_an_inner_group_replaces_the_flags_of_the_outer(package: Package) -> None:
    code = flags_of(
        package,
        "name: Parts\n",
        {
            "data/testdata.yaml": "output_validator_flags: case_sensitive",
            "data/sample/testdata.yaml": "output_validator_flags: float_tolerance 1e-2",
            f"{GROUP}/testdata.yaml": "output_validator_flags: float_tolerance 1e-2",
        },
    )
    assert "_ONLY = (False, False, 0.01, 0.01)" in code


def test_flags_that_versions_hand_down_differently_are_refused(package: Package) -> None:
    files = {
        "data/test_group.yaml": "output_validator_args: [case_sensitive]",
        f"{GROUP}/test_group.yaml": "max_score: 10",
    }
    with pytest.raises(DataError, match="the group around it has some"):
        load(str(package(NEWER, files)))


def test_a_default_validation_with_a_validator_is_refused(package: Package) -> None:
    files = {"output_validators/check.py": "pass"}
    with pytest.raises(DataError, match="default, and there is an output validator"):
        load(str(package("name: Parts\n", files)))
    assert only(package(NEWER, {"output_validator/check.py": "pass"}, folder="b")).checker


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/x.py": "pass", "a/y.py": "pass"}, "which file is started"),
        ({"a/x.py": "pass", "a/run": "python x.py"}, "run is neither Python nor"),
        ({"a.py": "print 1"}, "not Python 3"),
        ({"a.py": "#!/usr/bin/python2\npass"}, "not Python 3"),
    ],
)
def test_a_validator_that_cannot_run_is_refused(
    package: Package, files: dict[str, str], message: str
) -> None:
    more = {f"output_validators/{name}": text for name, text in files.items()}
    with pytest.raises(DataError, match=message):
        load(str(package("validation: custom\n", more)))


TEXTS = st.sampled_from(
    ["name", "limits", "type", "validation", "validator_flags", "constants", "languages"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(TEXTS, VALUES))
def test_any_settings_are_a_problem_or_an_error(package: Package, values: object) -> None:
    import yaml

    folder = package(yaml.safe_dump(values, allow_unicode=True))
    assert len(load(str(folder), skip_bad_rows=True).skipped) < 2
