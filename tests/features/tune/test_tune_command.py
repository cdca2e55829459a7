"""`harness tune` as its users meet it, with scripted models that hear the prompt."""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion, tool_call
from program import Done, finish, harness, harness_after, heard, run, start
from schemas import valid
from tuning_made import (
    BROKEN,
    EXPECTED,
    HELPFUL,
    HIDDEN,
    REFERENCE,
    REFLECTION,
    USELESS,
    TuningModels,
    by_chance,
    flags,
    text_of,
    write_problems,
)

pytest.importorskip("gepa")

SMALL = {"train": 3, "selection": 3, "test": 3, "max_evaluations": 12}


@pytest.fixture
def many_problems(tmp_path: Path) -> Path:
    write_problems(tmp_path, 21)
    return tmp_path


def asked(server: ChatServer, model: str | None = None) -> list[str]:
    """What each request said, to one of the models or to both."""
    bodies = (request.body for request in server.requests)
    return [text_of(body) for body in bodies if model in {None, body["model"]}]


def shown(folder: Path) -> dict[str, Any]:
    done = harness(folder, "tune", "show", "mine", "--json")
    assert done.returncode == 0, done.stderr
    return valid("tuning", done.stdout)


@pytest.mark.thorough
def test_the_helpful_phrase_is_found_and_its_gain_is_the_planted_one(many_problems: Path) -> None:
    async def tuned() -> tuple[Any, ChatServer]:
        models = TuningModels(phrases=(HELPFUL, BROKEN))
        async with ChatServer(models) as server:
            return await run(many_problems, "tune", *flags(server.base_url)), server

    (code, out, err), server = asyncio.run(tuned())
    assert code == 0, err
    outcome = shown(many_problems)
    best = outcome["candidates"][outcome["best"]]
    assert best["number"], out
    template = Path(many_problems, outcome["prompt"], best["template"]).read_text()
    assert HELPFUL in template
    assert outcome["evaluations"] <= 30
    split = json.loads((many_problems / "mine" / "tune.json").read_text())["split"]
    planted = sum(int(each.rpartition("e")[2]) % 3 == 1 for each in split["test"])
    gain = outcome["gain"]
    assert gain["difference"] == pytest.approx(planted / 9)
    assert gain["problems"] == 9
    assert outcome["sentence"].startswith(
        f"On 9 problems that tuning never saw, the tuned prompt solves {round(100 * planted / 9)}"
        " points more ("
    )
    assert outcome["sentence"] in " ".join(out.split())

    # a broken candidate costs nothing
    broken = [each for each in outcome["candidates"] if each["fault"]]
    assert broken
    assert all("problem.solution" in each["fault"] for each in broken)
    assert not any("problem.solution" in request_text for request_text in asked(server, "solving"))
    assert all(each["train"] is None for each in broken)

    # the reflection model sees nothing that is hidden
    reflected = asked(server, REFLECTION)
    assert len(reflected) == outcome["proposals"]
    for request_text in reflected:
        assert not any(word in request_text for word in (HIDDEN, EXPECTED, REFERENCE))
    everything = "\n".join(reflected)
    assert "it passed the public tests only, and failed hidden ones" in everything
    assert "A public test that failed: wrong answer" in everything
    assert "print(0)" in everything, "the program of a sample"

    # the test part is asked once with each prompt, and the search never saw it
    titles = [f"# Echo {each.rpartition('e')[2]}\n" for each in split["test"]]
    counted = Counter(
        title
        for request_text in asked(server, "solving")
        for title in titles
        if title in request_text
    )
    assert counted == dict.fromkeys(titles, 2)
    assert not any(
        title.strip("# \n") + "\n" in request_text for request_text in reflected for title in titles
    )

    # the folder is a prompt set, and the page is whole and inert
    checked = harness(many_problems, "prompts", "check", "mine/prompt", "--mode", "single_shot")
    assert checked.returncode == 0, checked.stdout
    page = (many_problems / "mine" / "report.html").read_text()
    assert f'<span class="added">+{HELPFUL}</span>' in page
    assert "{{ problem.solution }}" in page
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page

    # the same command asks nothing again
    before = len(server.requests)
    again = harness(many_problems, "tune", *flags(server.base_url))
    assert again.returncode == 0, again.stderr
    assert len(server.requests) == before
    assert shown(many_problems) == outcome


def test_text_of_models_is_escaped_in_the_page(many_problems: Path) -> None:
    hostile = "<script>alert(1)</script>\x1b[31m"

    async def tuned() -> Any:
        async with ChatServer(TuningModels(phrases=(hostile,))) as server:
            return await run(many_problems, "tune", *flags(server.base_url, **SMALL))

    code, out, err = asyncio.run(tuned())
    assert code == 0, err
    page = (many_problems / "mine" / "report.html").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "\x1b" not in page + out + err

    # a tuning keeps its settings
    url = "http://127.0.0.1:9/v1"
    for more, message in (
        (flags(url, **SMALL, temperature=1), "was begun with --temperature None"),
        (flags(url, **SMALL, reflection_model="x"), "was begun with reflection_model"),
        (["--resume", "mine", "--mode", "agentic"], "--mode does not go with it"),
        (["--resume", "mine", "--train", "3"], "--train does not go with it"),
    ):
        done = harness(many_problems, "tune", *more)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@pytest.mark.thorough
def test_killed_at_any_moment_nothing_is_paid_twice(
    many_problems: Path, tmp_path_factory: Any
) -> None:
    """The kills come at requests: under way is the one that was not answered."""
    other = tmp_path_factory.mktemp("unbroken")
    write_problems(other, 21)
    small = {"train": 3, "selection": 3, "test": 3, "max_evaluations": 15, "concurrency": 1}
    phrases = (HELPFUL, BROKEN)

    async def tuned() -> tuple[list[str], list[str]]:
        async with ChatServer(TuningModels(phrases=phrases)) as server:
            code, _, err = await run(other, "tune", *flags(server.base_url, **small))
            assert code == 0, err
        whole = asked(server)
        reflected = next(n for n, request_text in enumerate(whole) if "<template>" in request_text)
        moments = iter([1, reflected, len(whole) // 2 + 2, len(whole) - 1])
        killed_at = next(moments)
        models = TuningModels(phrases=phrases)
        hang = asyncio.Event()

        def script(body: Any, number: int) -> Reply:
            if number == killed_at:
                return Reply(until=hang.wait)
            return models(body, number)

        async with ChatServer(script) as server:
            for _ in range(4):
                process = await start(many_problems, "tune", *flags(server.base_url, **small))
                await server.arrived(killed_at + 1)
                process.kill()
                assert (await finish(process))[0] == -signal.SIGKILL
                killed_at = next(moments, 10_000)
            code, _, err = await run(many_problems, "tune", *flags(server.base_url, **small))
            assert code == 0, err
            hang.set()
            return whole, asked(server)

    whole, killed = asyncio.run(tuned())
    twice = Counter(killed) - Counter(whole)
    assert sum(twice.values()) <= 4, "one request under way at each of four kills"
    assert not Counter(whole) - Counter(killed)
    assert (many_problems / "mine" / "prompt").is_dir()
    for name in ("candidates.json", "prompt/system.j2"):
        assert (many_problems / "mine" / name).read_text() == (other / "mine" / name).read_text()


@pytest.mark.thorough
def test_an_agents_conversation_is_shown_and_its_prompt_tuned(many_problems: Path) -> None:
    models = TuningModels(phrases=(HELPFUL,))

    def script(body: Any, number: int) -> Reply:
        if body["model"] == REFLECTION:
            return models(body, number)
        if any(message["role"] == "assistant" for message in body["messages"]):
            return completion("I am done.")
        code = models.program(body)
        calls = [tool_call("write_solution", {"code": code}), tool_call("run_tests", {}, "call_2")]
        return completion("Let me try.", calls)

    async def tuned() -> tuple[Any, list[str]]:
        more = {"mode": "agentic", "max_evaluations": 40}
        async with ChatServer(script) as server:
            return await run(many_problems, "tune", *flags(server.base_url, **more)), asked(
                server, REFLECTION
            )

    (code, _, err), reflected = asyncio.run(tuned())
    assert code == 0, err
    outcome = shown(many_problems)
    assert outcome["gain"]["difference"] > 0
    tuned = {"system.j2", "user.j2", "again.j2", "repair.j2", "reminder.j2", "tools.j2"}
    assert {each["template"] for each in outcome["candidates"][1:]} <= tuned
    everything = "\n".join(reflected)
    assert "It was told:" in everything
    assert "Let me try." in everything
    assert not any(word in everything for word in (HIDDEN, EXPECTED, REFERENCE))


class TestBudget:
    @pytest.mark.thorough
    def test_the_search_leaves_enough_for_the_test_part(self, many_problems: Path) -> None:
        async def tuned() -> Any:
            more = {"max_evaluations": None, "max_tokens_total": 16_000, "concurrency": 1}
            async with ChatServer(TuningModels(phrases=(HELPFUL,))) as server:
                return await run(many_problems, "tune", *flags(server.base_url, **more))

        code, _, err = asyncio.run(tuned())
        assert code == 0, err
        outcome = shown(many_problems)
        assert outcome["ended"] == "budget"
        assert outcome["tokens"] <= 16_000
        assert outcome["gain"]["problems"] == 9
        assert "tokens spent" in outcome["sentence"]

    @pytest.mark.thorough
    def test_a_budget_that_is_too_small_says_so(self, many_problems: Path) -> None:
        async def tuned() -> Any:
            async with ChatServer(TuningModels()) as server:
                more = {"max_tokens_total": 1_000, "concurrency": 1}
                return await run(many_problems, "tune", *flags(server.base_url, **more))

        code, out, err = asyncio.run(tuned())
        assert code == 0, err
        assert "The budget does not pay for tuning" in out
        assert "go on with a larger one" in err
        assert not (many_problems / "mine" / "prompt").exists()

    @pytest.mark.thorough
    def test_dollars_of_both_models_count(self, many_problems: Path) -> None:
        async def tuned() -> Any:
            more = {"reflection_model": None, "price": "1000,1000", "max_cost": 14}
            async with ChatServer(TuningModels()) as server:
                return await run(
                    many_problems, "tune", *flags(server.base_url, concurrency=1, **more)
                )

        code, _, err = asyncio.run(tuned())
        assert code == 0, err
        outcome = shown(many_problems)
        assert outcome["cost"] == pytest.approx(outcome["tokens"] / 1000)
        assert 0 < outcome["reflection_tokens"] < outcome["tokens"]
        assert outcome["sentence"].endswith(f"${outcome['cost']:.2f} spent.")


@pytest.mark.thorough
def test_ctrl_c_ends_with_the_best_so_far_and_goes_on(many_problems: Path) -> None:
    async def tuned() -> tuple[Any, Any, int, int]:
        models, hold = TuningModels(phrases=(HELPFUL, BROKEN)), asyncio.Event()

        def script(body: Any, number: int) -> Reply:
            reply = models(body, number)
            first = body["model"] == REFLECTION and not hold.is_set()
            return Reply(body=reply.body, until=hold.wait) if first else reply

        async with ChatServer(script) as server:
            process = await start(many_problems, "tune", *flags(server.base_url))
            await server.arrived(10)  # the start on 6 + 3 problems, then reflection
            process.send_signal(signal.SIGINT)
            await heard(process, "interrupted: waiting for the answer")
            hold.set()
            ended = await finish(process)
            before = len(server.requests)
            again = await run(
                many_problems, "tune", "--resume", "mine", "--base-url", server.base_url
            )
            return ended, again, before, len(server.requests)

    (code, out, err), again, before, after = asyncio.run(tuned())
    assert code == 130, err
    assert "interrupted before the test part was asked" in " ".join(out.split())
    assert "go on with: harness tune --resume mine" in err
    assert before == 10
    assert again[0] == 0, again[2]
    assert after > before
    assert shown(many_problems)["gain"]["difference"] > 0


@pytest.mark.thorough
def test_a_useless_phrase_claims_no_gain(many_problems: Path) -> None:
    async def tuned() -> Any:
        async with ChatServer(TuningModels(by_chance, USELESS, seed=1)) as server:
            return await run(many_problems, "tune", *flags(server.base_url))

    code, _, err = asyncio.run(tuned())
    assert code == 0, err
    gain = shown(many_problems)["gain"]
    assert gain is None or not gain["is_gain"]


class TestRefusals:
    def test_without_the_package_one_line_says_how_to_install_it(self, many_problems: Path) -> None:
        first = (
            "from harness.features.tune import gepa_search\n"
            "gepa_search.find_spec = lambda name: None\n"
        )
        done = harness_after(first, many_problems, "tune", *flags("http://127.0.0.1:9/v1"))
        assert done.returncode == 2
        assert "pip install 'harness[tune]'" in done.stderr
        assert not (many_problems / "mine").exists()

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (["-b", "fixture", "--out", "a"], "does not hear a prompt"),
            (["-m", "m", "--mode", "external", "--out", "a"], "external"),
            (["--resume", "nowhere"], "is not a tuning"),
            (
                ["-m", "gpt-5", "-b", "fixture", "--prompt", "none", "--out", "a", "--dry-run"],
                "no prompt set",
            ),
        ],
    )
    def test_what_cannot_be_tuned(self, many_problems: Path, more: list[str], message: str) -> None:
        done = harness(many_problems, "tune", *more)
        assert done.returncode == 2, done.stdout
        assert message in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1

    def test_a_dry_run_does_nothing(self, many_problems: Path) -> None:
        done = dry(many_problems, "--price", "1,1")
        assert done.returncode == 0, done.stderr
        assert "6 train, 6 selection, 9 test" in done.stdout
        assert "18 requests" in done.stdout
        assert not (many_problems / "mine").exists()
        data = valid("tuning-estimate", dry(many_problems, "--price", "1,1", "--json").stdout)
        assert data["split"] == {"train": 6, "selection": 6, "test": 9}
        assert data["test"]["requests"] == [18, 18]

    def test_a_date_keeps_later_problems_for_the_test(self, many_problems: Path) -> None:
        sizes = ["--selection", "4", "--test-from", "2025-01-15", "--json"]
        data = json.loads(dry(many_problems, "--train", "5", "--test", "7", *sizes).stdout)
        assert data["split"] == {"train": 5, "selection": 4, "test": 7}
        done = dry(many_problems, "--test-from", "2026-01-01")
        assert done.returncode == 3
        assert "21 problems before that day and 0 from it on" in done.stderr


def dry(folder: Path, *more: str) -> Done:
    return harness(folder, "tune", *flags("http://127.0.0.1:9/v1"), "--dry-run", *more)


def test_a_lone_surrogate_of_a_reflection_model_is_escaped(many_problems: Path) -> None:
    (many_problems / "own.py").write_text(
        "from harness.models.protocol import ModelTurn\n"
        "class Solves:\n"
        "    name = 'solves'\n"
        "    def for_sample(self, problem, index): return self\n"
        "    async def close(self): pass\n"
        "    async def generate(self, messages, tools, settings, on_retry=None):\n"
        "        return ModelTurn(text='```python\\nprint(0)\\n```')\n"
        "class Reflects(Solves):\n"
        "    async def generate(self, messages, tools, settings, on_retry=None):\n"
        "        text = '<template>\\ud83d {{ problem.statement }}</template>'\n"
        "        return ModelTurn(text=text, reasoning=({'half': '\\ud83d'},))\n"
    )
    given = {"model": "python:own:Solves", "reflection_model": "python:own:Reflects"}
    done = harness(many_problems, "tune", *flags(None, **given, **SMALL))
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    kept = (many_problems / "mine" / "candidates").glob("*/*.j2")
    assert any(each.read_text().startswith("\\ud83d {{") for each in kept)
