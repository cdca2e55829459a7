"""`Grader`: rewards for a training loop, from warm sandboxes, failures of ours told apart."""

import asyncio
import concurrent.futures.thread
import gc
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import DOUBLE, ECHO, without_tests
from processes import children, wait_for_end

import harness
from harness import Grader, GradingError, Scored, UsageError, Verdict
from harness.grading.jobs import Judgement
from harness.grading.verdict import Grade
from harness.sandbox.execution import SandboxError
from harness.sandbox.worker import Worker

pytestmark = pytest.mark.usefixtures("kept_sandbox")

Problems = tuple[harness.Problem, ...]
ECHOES, HALF = "```python\nprint(input())\n```", "```python\nprint(2 if input() == '2' else 1)\n```"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Problems:
    path = tmp_path_factory.mktemp("grader") / "rows.jsonl"
    path.write_text(json_lines((ECHO, DOUBLE)))
    echo, double = harness.load_problems(f"jsonl:{path}")
    return echo, double, without_tests(echo)


@pytest.fixture(scope="module")
def grader(rows: Problems) -> Iterator[Grader]:
    with Grader(rows) as grader:
        yield grader


def test_grader_scores_a_batch(grader: Grader, rows: Problems) -> None:
    texts = [ECHOES, "I do not know.", "```python\ndef double(n): return n + n\n```", HALF]
    echo, double, _ = rows
    assert grader.score([echo, echo, double, echo], texts) == [1.0, 0.0, 1.0, 0.0]
    scored = grader.grade([echo, echo, double, echo], texts)
    assert [str(each.verdict) for each in scored] == [
        *("accepted", "no_solution", "accepted", "wrong_answer"),
    ]
    assert scored[0].code == "print(input())\n" or scored[0].code == "print(input())"
    assert scored[0].extraction == "python block with entry point"
    assert [each.failed for each in scored] == [False] * 4
    assert grader.score([], []) == []


def test_grader_takes_problem_ids_and_single_texts(grader: Grader) -> None:
    assert grader.score(["own/echo", "double"], [ECHOES, ECHOES]) == [1.0, 0.0]
    assert grader("own/echo", ECHOES) == 1.0


def test_a_reward_of_ones_own(rows: Problems) -> None:
    def short(each: Scored) -> float:
        return 1 / len(each.code) if each.passed else -1.0

    with Grader(reward=short) as grader:
        assert grader.score([rows[0]] * 2, [ECHOES, HALF]) == [pytest.approx(1 / 14), -1.0]


def test_the_share_of_tests_that_pass(rows: Problems) -> None:
    """All are run, also after the first that fails: the share would else hang on the order."""
    with Grader(reward="fraction") as grader:
        code = "```python\nprint(2 if (x := input()) == '1' else x)\n```"
        assert grader(rows[0], code) == pytest.approx(2 / 3)
        assert grader(rows[0], HALF) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("extract", "text", "reward"),
    [
        ("code", "print(input())", 1.0),
        ("code", ECHOES, 0.0),
        ("harness", "x = input()\nprint(x)", 1.0),
        ("lcb", "x = input()\nprint(x)", 0.0),
        ("lcb", ECHOES, 1.0),
    ],
)
def test_each_extraction_rule_finds_its_code(
    extract: str, text: str, reward: float, rows: Problems
) -> None:
    with Grader(extract=extract) as grader:
        assert grader(rows[0], text) == reward


class TestSandboxes:
    @pytest.fixture
    def kept_sandbox(self) -> None:
        """They start their own."""

    def test_sandboxes_of_a_grader_stay_warm(self, grader: Grader) -> None:
        """The fork servers of the second call are those of the first."""
        grader("own/echo", ECHOES)
        before = children()
        assert before
        for _ in range(3):
            grader.score(["own/echo"] * 4, [ECHOES] * 4)
        assert before <= children()

    def test_sandboxes_of_a_grader_end_with_its_block(self, rows: Problems) -> None:
        before = children()
        with Grader(workers=1) as own:
            own(rows[0], ECHOES)
            assert children() - before
        assert not children() - before
        with pytest.raises(UsageError, match="the grader is closed"):
            own(rows[0], ECHOES)
        own.close()

    def test_sandboxes_of_a_grader_end_with_the_object(self, rows: Problems) -> None:
        before = children()
        own = Grader(workers=1)
        own(rows[0], ECHOES)
        assert children() - before
        del own
        gc.collect()
        wait_for_end(before)

    def test_a_collection_never_waits_for_them(self, rows: Problems) -> None:
        """A collection may interrupt a thread that holds what the end of a sandbox waits for."""
        before = children()
        own = [Grader(workers=1)]
        own[0](rows[0], ECHOES)
        collected = threading.Event()

        def collect() -> None:
            with concurrent.futures.thread._global_shutdown_lock:  # as a thread that starts one
                own.clear()
                gc.collect()
                collected.set()

        threading.Thread(target=collect, daemon=True).start()
        assert collected.wait(60)
        wait_for_end(before)

    @pytest.mark.thorough
    def test_sandboxes_of_a_grader_end_with_the_program(self) -> None:
        code = (
            "from harness import Grader\n"
            "grader = Grader('fixture', workers=1)\n"
            "print(grader('quorum-signals', 'print(0)'), flush=True)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
        )
        assert (done.stdout, done.stderr) == ("0.0\n", "")

    def test_a_grader_starts_no_sandbox_before_it_is_needed(self) -> None:
        before = children()
        Grader().close()
        assert not children() - before


class TestThreads:
    @pytest.fixture
    def kept_sandbox(self) -> None:
        """They start their own."""

    def test_grader_answers_each_thread_with_its_own_scores(self, grader: Grader) -> None:
        """Each hears of its own texts."""
        barrier = threading.Barrier(4)

        def ask(number: int) -> list[float | None]:
            barrier.wait()
            texts = [ECHOES if each == number else HALF for each in range(4)]
            return grader.score(["own/echo"] * 4, texts)

        with ThreadPoolExecutor(4) as pool:
            scores = list(pool.map(ask, range(4)))
        assert scores == [[float(each == number) for each in range(4)] for number in range(4)]

    def test_closed_by_another_thread_it_says_so(self, rows: Problems) -> None:
        before = children()
        own = Grader(rows, workers=1)
        spin = "```python\nwhile True: input\n```"
        with ThreadPoolExecutor(2) as pool:
            calls = [pool.submit(own.score, ["own/echo"] * 3, [spin] * 3) for _ in range(2)]
            while not any(map(children, children() - before)):
                assert not any(call.done() for call in calls)
            own.close()
            for call in calls:
                with pytest.raises(UsageError, match="the grader is closed"):
                    call.result(60)

    def test_closed_at_any_moment_no_call_waits_for_ever(self, rows: Problems) -> None:
        """A call is answered, or hears that the grader is closed."""
        own = Grader(rows, workers=1)
        started = threading.Event()

        def ask() -> str:
            while True:
                try:
                    own.score(["own/echo"], ["no code"])
                except UsageError as error:
                    return str(error)
                started.set()

        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(ask) for _ in range(4)]
            started.wait(60)
            own.close()
            assert {call.result(60) for call in calls} == {"the grader is closed"}

    async def test_grader_works_in_a_running_loop(self, grader: Grader) -> None:
        assert grader("own/echo", ECHOES) == 1.0
        batches = [grader.ascore(["own/echo"], [text]) for text in (ECHOES, HALF)]
        assert await asyncio.gather(*batches) == [[1.0], [0.0]]

    @pytest.mark.thorough
    async def test_a_cancelled_call_is_dropped(self, grader: Grader) -> None:
        spin = "```python\nwhile True: input\n```"
        task = asyncio.ensure_future(grader.ascore(["own/echo"] * 3, [spin] * 3))
        done, _ = await asyncio.wait([task], timeout=0.3)
        assert not done
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await grader.ascore(["own/echo"], [ECHOES]) == [1.0]

    def test_grader_refuses_calls_in_a_fork(self, grader: Grader) -> None:
        grader("own/echo", ECHOES)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()

        def ask() -> None:
            try:
                grader("own/echo", ECHOES)
            except UsageError as error:
                queue.put(str(error))

        child = context.Process(target=ask)
        child.start()
        assert "does not survive a fork" in queue.get(timeout=60)
        child.join()


class TestFailures:
    """What is no doing of the model's is never worth 0."""

    @pytest.fixture
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The sandbox fails so many times for each echo."""
        left = [0]
        whole = Judgement.__call__

        def judge(self: Judgement, worker: Worker) -> Grade:
            if "input" in self.task.program.code and left[0]:
                left[0] -= 1
                raise SandboxError("the machine is on fire")
            return whole(self, worker)

        monkeypatch.setattr(Judgement, "__call__", judge)
        return left

    NAMES, TEXTS = ("own/echo", "double"), (ECHOES, "nothing")

    def test_a_sandbox_that_fails_is_tried_again(self, broken: list[int], grader: Grader) -> None:
        broken[0] = 1
        assert grader.score(self.NAMES, self.TEXTS) == [1.0, 0.0]

    def test_a_sandbox_failure_that_stays_is_raised(
        self, broken: list[int], grader: Grader
    ) -> None:
        broken[0] = 99
        with pytest.raises(GradingError, match=r"1 of 2 texts.*echo: sandbox_error.*on fire") as e:
            grader.score(self.NAMES, self.TEXTS)
        assert [(each.failed, each.passed) for each in e.value.scored] == [
            *((True, False), (False, False)),
        ]

    def test_a_sandbox_failure_can_be_scored_as_none(
        self, broken: list[int], rows: Problems
    ) -> None:
        broken[0] = 99
        with Grader(rows, failures="none") as grader:
            assert grader.score(self.NAMES, self.TEXTS) == [None, 0.0]
            assert grader("own/echo", ECHOES) is None

    async def test_a_sandbox_failure_is_one_of_the_verdicts(
        self, broken: list[int], grader: Grader
    ) -> None:
        broken[0] = 99
        scored = await grader.agrade(self.NAMES, self.TEXTS)
        assert [each.verdict for each in scored] == [Verdict.SANDBOX_ERROR, Verdict.NO_SOLUTION]
        assert scored[0].cause == "the machine is on fire"

    def test_a_problem_without_tests_says_nothing(self, grader: Grader) -> None:
        with pytest.raises(GradingError, match="jsonl/untested: ungraded: it has no test"):
            grader("untested", ECHOES)


async def _in_time(_scored: Scored) -> float:
    return 1.0


class _Async:
    async def __call__(self, _scored: Scored) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (
            _in_time,
            "reward function _in_time is async: give a plain function that returns a num",
        ),
        (_Async(), "reward function _Async is async"),
        (lambda: 1.0, "<lambda> must take one argument, the Scored, and return a number"),
        (lambda a, b: a + b, "<lambda> must take one argument, the Scored, and return a number"),
    ],
)
def test_a_function_that_gives_no_reward_is_refused(reward: Any, message: str) -> None:
    with pytest.raises(UsageError, match=rf"Grader\(\): .*{message}"):
        Grader(reward=reward)


@pytest.mark.parametrize("value", ["1", None, [1.0], {"reward": 1}, _in_time])
def test_a_reward_that_is_no_number_names_its_function(value: Any, rows: Problems) -> None:
    def mine(each: Scored) -> Any:
        return value(each) if callable(value) else value

    message = r"Grader\(\): reward function .*mine returned .*, a \w+: it must return a number"
    with Grader(reward=mine, workers=1) as grader:
        for failures in ("raise", "none"):
            grader._failures = failures
            with pytest.raises(UsageError, match=message):
                grader(rows[0], ECHOES)


@pytest.mark.thorough
def test_a_reward_may_be_whatever_is_a_number(rows: Problems) -> None:
    for value in (1, True, Fraction(1, 1)):
        with Grader(reward=lambda _, value=value: value, workers=1) as grader:
            assert (score := grader(rows[0], ECHOES)) == 1.0
            assert type(score) is float


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda g: g.score(["double"], ["a", "b"]), "2 texts for 1 problems; give one for each"),
        (lambda g: g.score(["double"], [[{"role": "assistant"}]]), r"texts\[0\] is a list, no tex"),
        (lambda g: g.score("double", "a"), "give a list of problems and a list of texts"),
        (
            lambda g: g.score(["duble"], ["a"]),
            "is called 'duble'; did you mean .*double",
        ),
        (lambda _: Grader(worker=1), "unknown key 'worker'; did you mean 'workers'"),
        (lambda _: Grader(reward="best"), "reward 'best': give passed, fraction or a function"),
        (lambda _: Grader(failures="skip"), "failures 'skip': give 'raise' or 'none'"),
        (
            lambda _: Grader(extract="x"),
            r"^Grader\(\): extract x: known are harness, lcb, code for ",
        ),
        (
            lambda _: Grader()("double", ""),
            r"given no problems.*'double': give it a benchmark, as ",
        ),
        (lambda g: g(3, ""), r"problems\[0\] is a int: give an id or a Problem"),
        (lambda g: g.score(None, [""]), "give a list of problems and a list of texts"),
        (lambda g: g.score((each for each in "a"), ["a"]), "give a list of problems and a list"),
        (lambda _: Grader(test_timeout="reference*2"), "give seconds"),
    ],
)
def test_grader_refuses_mistakes(
    ask: Callable[[Any], object], message: str, grader: Grader
) -> None:
    with pytest.raises(UsageError, match=message):
        ask(grader)
