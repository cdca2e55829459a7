"""`problem.yaml`: what it may say, and what is refused."""

import pytest
from contest_packages import Package, only

from harness.errors import DataError
from harness.kinds.packages.icpc import load

BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    + ["source: *a11"]
)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (BOMB, "aliases expand it to more than"),
        ("name: &a [*a]\n", "an alias contains itself"),
        ("[" * 600, "nested too deeply"),
        ("name: !!int ''\n", "not valid YAML"),
        ("name: a\nname: b\n", "name is given twice"),
        ("problem_format_version: 2031-01\n", "'2031-01' is not known"),
        ("type: quiz\n", "'quiz' is not known"),
        ("type: {a: b}\n", "neither text nor a list"),
        ("validation: strict\n", "neither default nor custom"),
        ("validator_flag: case_sensitive\n", "did you mean 'validator_flags'"),
        ('validator_flags: "\'"\n', "quotes and backslashes"),
        ("validator_flags: {name: x}\n", "neither text nor a list"),
        ("languages: [java, kotlin]\n", "only java, kotlin may be used"),
        ("constants: [a]\n", "no map of names"),
        ("constants: {1a: 2}\n", "not a name with a value"),
        ("constants: {a: [2]}\n", "is not a value"),
        ("constants: {a: {tex: 2}}\n", "not a name with a value"),
    ],
)
def test_what_is_wrong_is_said(package: Package, settings: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        load(str(package(settings)))
    assert "problem.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "limits",
    [
        *("time_limit: 1.0e+9", "time_limit: 1e30", "time_limit: .inf", "time_limit: Infinity"),
        *("time_limit: .nan", "time_limit: 0", "time_limit: -1", "time_limit: true"),
        *("time_limit: soon", "time_limit: [1]", "memory: 0.5", "memory: 1.5", "memory: 1e9"),
        *("memory: nan", "output: 0", "output: 100000", "code: 1", "tim_limit: 1"),
    ],
)
def test_absurd_limits_are_refused(package: Package, limits: str) -> None:
    with pytest.raises(DataError, match=r"problem\.yaml: field '"):
        load(str(package(f"limits: {{{limits}}}\n")))


@pytest.mark.parametrize("text", ["1e30", "inf", "nan", "", "soon", "-1"])
def test_an_absurd_time_limit_file_is_refused(package: Package, text: str) -> None:
    with pytest.raises(DataError, match=r"\.timelimit: field 'time limit'"):
        load(str(package("name: a\n", {".timelimit": text})))


def test_limits_are_taken_as_they_stand(package: Package) -> None:
    limits = "{time_limit: 1e0, memory: 512, output: 8, code: 128, time_multiplier: 5}"
    problem = only(package(f"limits: {limits}\n"))
    assert problem.cpu_s == 1
    assert (problem.memory_bytes, problem.output_bytes) == (512 << 20, 8 << 20)
    assert only(package("name: a\n", {".timelimit": "3\n"}, folder="b")).cpu_s == 3
    ini = {"domjudge-problem.ini": "name = x\ntimelimit='2.5' ; seconds\n"}
    assert only(package("name: a\n", ini, folder="c")).cpu_s == 2.5
    assert only(package("name: a\n", ini | {".timelimit": "3\n"}, folder="d")).cpu_s == 3


@pytest.mark.parametrize(
    ("settings", "files", "languages"),
    [
        ("name: a\n", {}, ()),
        ("languages: [cpp, java]\n", {}, ("cpp",)),
        ("languages: [python3, cpp]\n", {}, ("python", "cpp")),
        ("languages: [python2, python3numpy]\n", {}, ("python",)),
        ("languages: [python2, cpp]\n", {}, ("cpp",)),
        ("name: a\n", {"include/cpp/a.h": "int a;"}, ("cpp",)),
    ],
)
def test_a_package_says_which_languages_solutions_may_be_in(
    package: Package, settings: str, files: dict[str, str], languages: tuple[str, ...]
) -> None:
    assert only(package(settings, files)).languages == languages


def test_names_and_sources_of_all_versions_are_read(package: Package) -> None:
    legacy = only(package("name: Parts\nsource: Cup 2014\n"))
    assert (legacy.title, legacy.platform) == ("Parts", "cup 2014")
    newer = "problem_format_version: 2025-09\nname: {sv: Delar, en: Parts}\nsource: {name: Cup}\n"
    problem = only(package(newer, folder="b"))
    assert (problem.title, problem.platform) == ("Parts", "cup")


def test_constants_are_put_into_statement_submissions_and_group_files(package: Package) -> None:
    problem = only(
        package(
            "constants: {limit: {value: 1000, tex: '10^3'}, eps: '1e-3'}\n",
            {
                "problem_statement/problem.en.tex": r"At most $\constant{limit.tex}$, {{other}}.",
                "data/testdata.yaml": "output_validator_flags: float_tolerance {{eps}}",
                "submissions/accepted/half.py": "print({{limit}}, {{limit.value}})",
            },
        )
    )
    assert problem.statement == "At most $10^3$, {{other}}."
    assert problem.programs() == ("print(1000, 1000)",)
    assert problem.checker is not None
    assert "_ONLY = (False, False, 0.001, 0.001)" in problem.checker.code
