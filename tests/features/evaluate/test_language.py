"""`--language cpp`: the loop in C++, what it tells the model, and what follows a run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Json, Reply, completion, in_turn, tool_call
from own_problems import ECHO
from program import harness as program
from program import run

import harness
from harness import Episode, Episodes, UsageError
from harness.kinds.cpp.language import FLAGS, compiler
from harness.languages.language import MissingCompilerError

pytestmark = pytest.mark.usefixtures("kept_sandbox")

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

RIGHT = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"
WRONG = "int main() {}\n"
BROKEN = "int main() { return missing; }\n"
USAGE = {"prompt_tokens": 7, "completion_tokens": 3}
Script = Callable[[Json, int], Any]


def _writing(code: str, number: int) -> Reply:
    calls = [("write_solution", {"code": code}), ("run_tests", {})]
    asked = [tool_call(name, given, f"{name}{number}") for name, given in calls]
    return completion(None, asked, usage=USAGE)


def _saying(code: str) -> Reply:
    return completion(f"So:\n\n```c++\n{code}```\n", usage=USAGE)


async def _served(folder: Path, script: Script, *flags: str) -> tuple[ChatServer, Path]:
    """Run a served model over the problems; return its server and the run."""
    async with ChatServer(script) as server:
        base = ["-m", "served", "--base-url", server.base_url, "-b", "jsonl:own.jsonl"]
        code, _, err = await run(folder, "run", *base, "--out", "r", *flags)
    assert code == 0, err
    assert "1 problem left out, which takes no C++ solution: it has no" in err
    return server, folder / "r"


def _results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def _told(server: ChatServer) -> list[str]:
    return [str(message["content"]) for message in server.requests[-1].body["messages"]]


async def test_an_agent_sees_a_compile_error_then_a_failed_test_and_solves_it(
    two_problems: Path,
) -> None:
    script = in_turn(*(_writing(code, n) for n, code in enumerate((BROKEN, WRONG, RIGHT))))
    server, made = await _served(two_problems, script, "--mode", "agentic", "--language", "cpp")
    (result,) = _results(made)
    assert (result["verdict"], result["code"], result["written"]) == ("accepted", RIGHT, 3)
    messages = _told(server)
    assert "correct C++20 solution" in messages[0]
    assert "Python" not in "".join(messages)
    assert any("does not compile" in each and "missing" in each for each in messages)
    assert any("0 of 1 public tests passed" in each for each in messages)
    described = json.dumps(server.requests[0].body["tools"])
    assert "complete C++ source" in described
    assert "Python" not in described
    manifest = json.loads((made / "run.json").read_text())
    assert (manifest["spec"]["language"], manifest["spec"]["cpp_flags"]) == ("cpp", None)
    assert manifest["versions"][0]["compiler"] == compiler().version
    (reason,) = manifest["left_out"]
    assert "no starter code with types" in reason
    regraded = harness.regrade(made, benchmark=str(f"jsonl:{two_problems / 'own.jsonl'}"))
    assert regraded.pass_at_1 == 1.0
    assert [step.solved for step in regraded.results[0].steps] == [False, False, True]
    shown = program(two_problems, "transcript", "r", "own/echo#0")
    assert "agentic, in cpp, model served" in shown.stdout
    done = program(
        two_problems,
        "run",
        "-b",
        "jsonl:own.jsonl",
        "-m",
        "replay:r",
        "--language",
        "cpp",
        "--agentic-mode",
    )
    assert done.returncode == 0, done.stderr


async def test_single_shot_and_self_repair_take_the_fenced_program(two_problems: Path) -> None:
    script = in_turn(_saying(WRONG), _saying(RIGHT))
    server, made = await _served(two_problems, script, "--mode", "self_repair", "--language", "cpp")
    (result,) = _results(made)
    assert (result["verdict"], result["extraction"]) == ("accepted", "cpp block")
    assert "```cpp\nint main() {}" in _told(server)[-1]
    assert "Python" not in "".join(_told(server))


@pytest.mark.thorough
async def test_tools_in_text_show_a_call_in_cpp(two_problems: Path) -> None:
    fence = '```json\n{"name": "write_solution", "arguments": {}}\n```\n\n```cpp\n'
    tests = '\n```json\n{"name": "run_tests", "arguments": {}}\n```\n'
    script = in_turn(completion(f"{fence}{RIGHT}```\n{tests}", usage=USAGE))
    flags = ("--mode", "agentic", "--language", "cpp", "--tool-protocol", "text")
    server, made = await _served(two_problems, script, *flags)
    (result,) = _results(made)
    assert (result["verdict"], result["code"].strip()) == ("accepted", RIGHT.strip())
    assert "C++20 solution in one fenced cpp code block" in "".join(_told(server))
    assert "python" not in "".join(_told(server)).lower()


def test_run_code_runs_a_program_in_the_language() -> None:
    with Episodes([ECHO], language="cpp", run_code_tool=True, workers=1) as shared:
        episode = Episode(shared)
        opening = episode.reset("own/echo")
        assert "Python" not in json.dumps(opening)
        reply = episode.call("run_code", {"code": RIGHT, "stdin": "abc"})
        assert "abc" in reply
        assert FLAGS in episode.call("read_problem", {})
        episode.call("write_solution", {"code": RIGHT})
        episode.call("run_tests", {})
        assert episode.reward().solved


def test_a_grader_takes_programs_in_the_language() -> None:
    (problem,) = harness.load_problems([ECHO])
    with harness.Grader(language="cpp", workers=1) as grader:
        answers = [f"```cpp\n{RIGHT}```", f"```cpp\n{WRONG}```", "```python\nprint(input())\n```"]
        assert grader.score([problem] * 3, answers) == [1.0, 0.0, 0.0]
    with pytest.raises(UsageError, match="give python or cpp"):
        harness.Grader(language="rust")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="cpp_flags goes with language"):
        harness.Grader(cpp_flags="-O1")


def test_a_resumed_run_says_that_the_compiler_has_changed(two_problems: Path) -> None:
    (two_problems / "own.py").write_text(f"def solve(problem): return {RIGHT!r}")
    model = ("-m", "python:own:solve")
    base = ("run", "-b", "jsonl:own.jsonl", "-t", "own/echo", *model, "--out", "s")
    first = program(two_problems, *base, "--language", "cpp")
    assert first.returncode == 0, first.stderr
    stored = json.loads((two_problems / "s" / "run.json").read_text())
    stored["versions"][0]["compiler"] = "g++ (made) 1.2.3"
    (two_problems / "s" / "run.json").write_text(json.dumps(stored))
    (two_problems / "s" / "results.jsonl").write_text("")
    done = program(two_problems, "run", "--resume", "s")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stderr.split())
    assert f"under compiler g++ (made) 1.2.3, now {compiler().version}" in text
    versions = json.loads((two_problems / "s" / "run.json").read_text())["versions"]
    assert [each["compiler"] for each in versions] == ["g++ (made) 1.2.3", compiler().version]


@pytest.mark.thorough
def test_flags_of_the_compiler_reach_the_solution(two_problems: Path) -> None:
    code = "#include <cstdio>\nint main() { putchar(ANSWER); }\n"
    row = {**ECHO, "id": "one", "tests": [{"input": "", "output": "1", "public": True}]}
    made = harness.evaluate(
        lambda _: code,
        benchmark=[row],
        language="cpp",
        cpp_flags="-DANSWER=49",
        out=two_problems / "r",
    )
    assert made.results[0].verdict == "accepted", made.results[0]
    stored = json.loads((two_problems / "r" / "run.json").read_text())["spec"]
    assert stored["cpp_flags"] == "-DANSWER=49"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--language", "rust"], "--language"),
        (["--set", "cpp_flags=-O3"], "--set cpp_flags goes with --language cpp"),
        (["--language", "cpp", "--mode", "codet"], "--mode codet has the model write tests"),
        (["--language", "cpp", "--mode", "map_coder"], "write tests in Python"),
        (["--language", "cpp", "--efficiency"], "--efficiency goes with Python only"),
        (
            ["--language", "cpp", "--set", "cpp_flags=-std=c++1"],
            "C++ compiler fails with -std=c++1",
        ),
        (
            ["--language", "cpp", "--set", "cpp_flags=-O2 -c"],
            "no program was made, and it ended with",
        ),
        (
            ["--language", "cpp", "--set", "cpp_flags=-O2 'x"],
            "C++ compiler cannot be read: No closing",
        ),
        (
            ["--language", "cpp", "--prompt", "terse"],
            "nothing for code generation in C++; these have: def",
        ),
        (
            ["--language", "cpp", "-m", "replay:bundled"],
            "replay:bundled are in Python; name a model",
        ),
        (["--language", "cpp", "-t", "double"], "double takes no C++ solution: it has no"),
    ],
)
def test_what_cannot_be_in_cpp_is_refused_in_a_line(
    two_problems: Path, flags: list[str], message: str
) -> None:
    asked = ["-m", "x", "--base-url", "http://127.0.0.1:9"] if "-m" not in flags else []
    done = program(two_problems, "run", *asked, "-b", "jsonl:own.jsonl", *flags)
    assert done.returncode == 2, done.stdout
    assert message in " ".join(done.stderr.split())


def test_without_a_compiler_nothing_is_asked(two_problems: Path) -> None:
    asked = ["-m", "x", "--base-url", "http://127.0.0.1:9", "-b", "jsonl:own.jsonl"]
    done = program(two_problems, "run", *asked, "--language", "cpp", PATH="/nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no C++ compiler" in done.stderr


def test_a_problem_may_name_the_languages_it_takes(two_problems: Path) -> None:
    rows = [{**ECHO, "languages": ["cpp"]}, {**ECHO, "id": "other", "languages": ["python"]}]
    made = harness.evaluate(lambda _: RIGHT, benchmark=rows, language="cpp", out=two_problems / "r")
    assert [result.problem_id for result in made.results] == ["own/echo"]
    with pytest.raises(UsageError, match="only C"):
        harness.evaluate(lambda _: RIGHT, benchmark=rows, task="own/echo", out=two_problems / "s")


def test_compare_says_that_the_languages_differ(two_problems: Path) -> None:
    in_cpp = harness.evaluate(
        lambda _: RIGHT, benchmark=[ECHO], language="cpp", out=two_problems / "a"
    )
    other = harness.evaluate(lambda _: "print(input())", benchmark=[ECHO], out=two_problems / "b")
    done = program(two_problems, "compare", str(in_cpp.path), str(other.path))
    assert "language differs: cpp and python" in " ".join(done.stdout.split()), done.stderr


@pytest.mark.thorough
def test_an_experiment_varies_the_language_on_problems_that_take_both(two_problems: Path) -> None:
    made = harness.experiment(
        models=[lambda_of_both],
        benchmark=f"jsonl:{two_problems / 'own.jsonl'}",
        modes=["single_shot"],
        vary={"language": ["python", "cpp"]},
        cpp_flags="-O1 -std=gnu++20",
        out=two_problems / "e",
    )
    variants = {
        path.parent.name: json.loads(path.read_text()) for path in two_problems.glob("e/*/run.json")
    }
    assert {each["spec"]["language"] for each in variants.values()} == {"python", "cpp"}
    assert {tuple(each["problems"]) for each in variants.values()} == {("own/echo",)}
    flags = {each["spec"]["language"]: each["spec"]["cpp_flags"] for each in variants.values()}
    assert flags == {"python": None, "cpp": "-O1 -std=gnu++20"}
    assert made is not None


def lambda_of_both(problem: dict[str, Any]) -> str:
    """Answer in both languages: an extractor takes the one that is asked for."""
    del problem
    return f"```python\nprint(input())\n```\n```cpp\n{RIGHT}```\n"
