"""A run may go on, and grow; anything else is another run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Solver, failure
from crashes import Asked
from json_lines import json_lines
from program import Done, harness, results, run
from written import WRITTEN

Program = Callable[..., Done]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return lambda *arguments, **env: harness(tmp_path, *arguments, **env)


def samples(run: Path) -> list[str]:
    return [result["sample"].rpartition("/")[2] for result in results(run)]


class TestTheSameCommand:
    def test_the_same_command_goes_on_with_its_run(self, program: Program, tmp_path: Path) -> None:
        command = ["run", "--agentic-mode", "-n", "3", "--out", "r"]
        assert program(*command).returncode == 0
        path = tmp_path / "r" / "results.jsonl"
        whole = path.read_bytes()
        path.write_bytes(whole[:-100])
        done = program(*command)
        assert done.returncode == 0, done.stderr
        assert "1 pending" in done.stderr
        assert len(samples(tmp_path / "r")) == 3
        assert path.read_bytes().splitlines()[:2] == whole.splitlines()[:2]

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("flags", "word"),
        [
            (["--max-turns", "3"], "max_turns"),
            (["--prompt", "terse"], "prompt"),
            (["--max-turns", "7"], "max_turns"),
            (["--test-timeout", "1"], "test_timeout"),
            (["-m", "python:mine:solve"], "model"),
        ],
    )
    def test_a_run_is_not_gone_on_with_under_another_setting(
        self, flags: list[str], word: str, program: Program, tmp_path: Path
    ) -> None:
        (tmp_path / "mine.py").write_text("def solve(problem): return ''")
        model = ["-b", "fixture", "-m", f"replay:{WRITTEN / 'agentic' / 'default'}"]
        command = ["run", *model, "--agentic-mode", "-n", "2", "--out", "r"]
        assert program(*command).returncode == 0
        before = {each: each.read_bytes() for each in (tmp_path / "r").glob("*.json*")}
        done = program(*command, *flags)
        assert done.returncode == 2
        assert f"the run has {word} " in done.stderr
        assert "another run" in done.stderr
        assert {each: each.read_bytes() for each in (tmp_path / "r").glob("*.json*")} == before

    @pytest.mark.thorough
    def test_a_run_is_not_gone_on_with_in_another_mode(self, program: Program) -> None:
        assert program("run", "-n", "2", "--out", "r").returncode == 0
        done = program("run", "--agentic-mode", "-n", "2", "--out", "r")
        assert done.returncode == 2
        assert "the run has mode 'single_shot', and not 'agentic'" in done.stderr

    def test_a_folder_that_is_no_run_is_no_run(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / "r").mkdir()
        (tmp_path / "r" / "mine.txt").write_text("")
        done = program("run", "-n", "1", "--out", "r")
        assert done.returncode == 2
        assert "not an empty directory" in done.stderr


class TestGrowing:
    @pytest.mark.parametrize("again", [["run", "--agentic-mode", "--out"], ["run", "--resume"]])
    def test_a_run_grows_by_problems(
        self, again: list[str], program: Program, tmp_path: Path
    ) -> None:
        assert program("run", "--agentic-mode", "-n", "2", "--out", "r").returncode == 0
        first = (tmp_path / "r" / "results.jsonl").read_bytes()
        done = program(*again, "r", "-n", "3")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "r" / "results.jsonl").read_bytes().startswith(first)
        assert len(samples(tmp_path / "r")) == 3
        manifest = json.loads((tmp_path / "r" / "run.json").read_text())
        assert (manifest["spec"]["sample_size"], len(manifest["problems"])) == (3, 3)
        done = program(*again, "r", "-n", "3", "-k", "2")
        assert done.returncode == 2
        assert "has at most 1 recorded of a problem" in done.stderr

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            (["-n", "1"], "the selection now leaves out"),
            (
                ["-n", "2", "--sampling", "random", "--seed", "5"],
                "the selection now leaves out",
            ),
            (["-t", "odd-socks"], "the selection now leaves out"),
        ],
    )
    def test_a_run_never_shrinks(
        self, flags: list[str], words: str, program: Program, tmp_path: Path
    ) -> None:
        assert program("run", "--agentic-mode", "-n", "2", "--out", "r").returncode == 0
        done = program("run", "--resume", "r", *flags)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(samples(tmp_path / "r")) == 2

    @pytest.mark.thorough
    def test_a_run_grows_by_samples_and_never_to_fewer(
        self, program: Program, tmp_path: Path
    ) -> None:
        (tmp_path / "mine.py").write_text("def solve(problem): return 'print(0)'")
        flags = ["-m", "python:mine:solve", "-b", "fixture", "-n", "1", "--out", "r"]
        assert program("run", *flags, "-k", "2").returncode == 0
        done = program("run", "--resume", "r", "-k", "3")
        assert "1 pending" in done.stderr
        assert (done.returncode, len(samples(tmp_path / "r"))) == (0, 3)
        done = program("run", "--resume", "r", "-k", "1")
        assert done.returncode == 2
        assert "it can get more of them, and not fewer" in done.stderr


class TestOnly:
    @pytest.fixture
    def mine(self, program: Program, tmp_path: Path) -> Path:
        """Five problems: one solved, one wrong, one that failed, and two that were never begun."""
        rows = [
            {
                "id": name,
                "statement": "Echo.",
                "tests": [{"input": "1", "output": "1", "public": True}],
            }
            for name in ("right", "wrong", "fails", "later", "last")
        ]
        (tmp_path / "p.jsonl").write_text(json_lines(rows))
        (tmp_path / "mine.py").write_text(MODEL)
        (tmp_path / "broken").touch()
        flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--out", "r"]
        assert program("run", *flags, "-n", "3").returncode == 4
        (tmp_path / "broken").unlink()
        return tmp_path / "r"

    def test_errored_are_those_that_were_begun(self, mine: Path, program: Program) -> None:
        done = program("run", "--resume", "r", "-n", "5", "--only", "errored")
        assert done.returncode == 0, done.stderr
        assert sorted(samples(mine)) == ["fails#0", "right#0", "wrong#0"]
        summary = json.loads((mine / "summary.json").read_text())
        assert summary["pending"] == {"not_run": 2}

    @pytest.mark.thorough
    def test_unsolved_are_those_of_problems_that_nobody_solved(
        self, mine: Path, program: Program
    ) -> None:
        assert program("run", "--resume", "r").returncode == 0
        done = program("run", "--resume", "r", "-k", "2", "--only", "unsolved")
        assert done.returncode == 0, done.stderr
        assert sorted(samples(mine)[3:]) == ["wrong#1"]

    @pytest.mark.thorough
    def test_ids_are_those_of_problems_and_samples(self, mine: Path, program: Program) -> None:
        grown = ["run", "--resume", "r", "-n", "5", "-k", "2"]
        done = program(*grown, "--only", "later,last#1")
        assert done.returncode == 0, done.stderr
        assert sorted(samples(mine)[2:]) == ["last#1", "later#0", "later#1"]
        done = program(*grown, "--only", "nobody")
        assert done.returncode == 2
        assert "--only nobody: no pending sample has that id" in done.stderr

    def test_a_new_run_has_nothing_to_choose_from(self, program: Program) -> None:
        done = program("run", "-n", "1", "--only", "errored")
        assert done.returncode == 2
        assert "--resume" in done.stderr


MODEL = """
from pathlib import Path

def solve(problem):
    name = problem["id"].rpartition("/")[2]
    if name == "fails" and Path("broken").exists():
        raise OSError
    return "print(2)" if name == "wrong" else "print(input())"
"""


class TestWhereTheModelIs:
    @pytest.mark.thorough
    async def test_a_run_does_not_wander_to_another_address(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        async with ChatServer(solver) as server:
            env = {"OPENAI_BASE_URL": server.base_url}
            flags = ["run", "-b", "fixture", "-m", "gpt-5-mini", "-n", "1", "--out", "r"]
            code, _, err = await run(tmp_path, *flags, **env)
            assert code == 0, err
            manifest = json.loads((tmp_path / "r" / "run.json").read_text())
            assert manifest["endpoint"] == server.base_url
            elsewhere = {"OPENAI_API_KEY": "none-at-all"}
            code, _, err = await run(tmp_path, "run", "--resume", "r", "-n", "2", **elsewhere)
            assert code == 2
            assert f"was reached at {server.base_url}" in err
            assert "--base-url" in err
            code, _, err = await run(
                tmp_path, "run", "--resume", "r", "-n", "2", "--base-url", server.base_url
            )
            assert code == 0, err

    async def test_a_password_in_the_base_url_is_not_kept(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        async with ChatServer(solver) as server:
            url = server.base_url.replace("//", "//bob:hunter2hunter2@")
            flags = ["-b", "fixture", "-m", "served", "-n", "1", "--base-url", url, "--out", "r"]
            code, _, err = await run(tmp_path, "run", *flags)
            assert code == 0, err
        assert "hunter2" not in (tmp_path / "r" / "run.json").read_text()


class TestPrices:
    @pytest.mark.thorough
    async def test_a_price_that_comes_later_is_kept_and_holds_for_what_was_done(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        async with ChatServer(_counted(solver)) as server:
            flags = ["-b", "fixture", "-m", "served", "-n", "2", "--base-url", server.base_url]
            assert (await run(tmp_path, "run", *flags, "--out", "r"))[0] == 0
            summary = tmp_path / "r" / "summary.json"
            assert json.loads(summary.read_text())["cost"] is None
            resume = ["run", "--resume", "r", "--base-url", server.base_url]
            assert (await run(tmp_path, *resume, "-n", "3", "--price", "1,1"))[0] == 0
            assert json.loads(summary.read_text())["cost"] == pytest.approx(3 * 110e-6)
            code, _, err = await run(tmp_path, *resume, "-n", "4", "--max-cost", "1")
            assert code == 0, err
            assert json.loads(summary.read_text())["cost"] == pytest.approx(4 * 110e-6)
            code, _, err = await run(tmp_path, *resume, "--price", "5,5")
            assert code == 2
            assert "keeps the price" in err

    @pytest.mark.thorough
    async def test_what_was_spent_before_counts_request_by_request(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        asked = Asked(solver)
        script = _counted(asked)

        def second_fails(body: dict[str, Any], number: int) -> Reply:
            return failure(400, "no") if number == 1 else script(body, number)

        async with ChatServer(second_fails) as server:
            flags = ["--agentic-mode", "-b", "fixture", "-m", "served", "-n", "3", "--out", "r"]
            budget = ["--price", "1e6,1e6", "--max-cost", "440", "--concurrency", "1"]
            flags = ["run", *flags, *budget, "--base-url", server.base_url]
            code, _, err = await run(tmp_path, *flags)
            assert code == 4, err
            before = asked.total
            code, _, err = await run(tmp_path, *flags)
        # Each request costs 110 dollars: four fit, whenever they are sent. A sample takes two, so
        # that the third is not begun, and the one that failed goes on.
        assert "--max-cost is reached" in err
        assert asked.total == 4
        assert 0 < before < 4


def _counted(answer: Callable[[dict[str, Any], int], Reply]) -> Callable[..., Reply]:
    def script(body: dict[str, Any], number: int) -> Reply:
        reply = answer(body, number)
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return Reply({**reply.body, "usage": usage})

    return script
