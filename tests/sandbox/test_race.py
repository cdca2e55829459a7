"""Programs that take turns: phases, processes, and what none has of another's."""

import pytest

from harness.sandbox.execution import SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.timing_race import MOST_PROGRAMS, ProgramStep, TimingRace
from harness.sandbox.worker import Worker

DOUBLE = Program("def f(n): return 2 * n", entry_point="f")
COUNTING = Program(
    "import sys\nkept = sys.__dict__.setdefault('kept', [])\n"
    "def f(n):\n    kept.append(n)\n    return len(kept)\n",
    entry_point="f",
)
PRYING = Program(
    """
import os
def f(n):
    found = []
    for descriptor in range(3, 200):
        try: found.append(os.pread(descriptor, 100_000, 0).decode("latin-1"))
        except OSError: pass
    return found
""",
    entry_point="f",
)


def race(*programs: Program, inputs: tuple[bytes, ...] = (b"1", b"21")) -> TimingRace:
    return TimingRace(programs, [inputs], Limits(cpu_s=0.3))


def test_a_step_answers_every_test_of_its_group(worker: Worker) -> None:
    with race(DOUBLE) as programs:
        (lap,) = worker.take_turns(programs, [ProgramStep(0, 0, passes=3, shown=1)])
    assert (lap.error, lap.answers) == ("", (b"2", b"42"))
    assert lap.cpu_s > 0
    assert lap.outside_s > 0


def test_a_script_is_executed_with_fresh_streams_each_time(worker: Worker) -> None:
    script = Program("print(input()[::-1])")
    with TimingRace([script], [[b"ab\n"], [b"cd\n"]], Limits()) as programs:
        laps = worker.take_turns(
            programs, [ProgramStep(0, 0), ProgramStep(0, 1), ProgramStep(0, 0)]
        )
    assert [lap.answers for lap in laps] == [(b"ba\n",), (b"dc\n",), (b"ba\n",)]


def test_a_process_lasts_until_a_fresh_one_is_asked_for(worker: Worker) -> None:
    with race(COUNTING, inputs=(b"7",)) as programs:
        steps = [ProgramStep(0, 0), ProgramStep(0, 0), ProgramStep(0, 0, fresh=True)]
        laps = worker.take_turns(programs, steps)
    assert [lap.answers for lap in laps] == [(b"1",), (b"2",), (b"1",)]


def test_programs_share_no_process(worker: Worker) -> None:
    with race(COUNTING, COUNTING, inputs=(b"7",)) as programs:
        laps = worker.take_turns(
            programs, [ProgramStep(0, 0), ProgramStep(1, 0), ProgramStep(0, 0)]
        )
    assert [lap.answers for lap in laps] == [(b"1",), (b"1",), (b"2",)]


def test_no_program_has_the_code_or_the_coming_tests_of_another(worker: Worker) -> None:
    secret = Program("def f(n): return 'the secret of the other'", entry_point="f")
    programs = TimingRace([secret, PRYING, secret], [[b"1"], [b'"a coming test"']], Limits())
    with programs:
        laps = worker.take_turns(
            programs, [ProgramStep(0, 0), ProgramStep(1, 0), ProgramStep(2, 0)]
        )
    assert [lap.error for lap in laps] == ["", "", ""]
    assert b"secret" not in laps[1].answers[0]
    assert b"coming" not in laps[1].answers[0]


def test_what_fails_says_why_and_others_go_on(worker: Worker) -> None:
    broken = Program("def f(n): return 1 // 0", entry_point="f")
    nonsense = Program("def f(n) return", entry_point="f")
    endless = Program("def f(n):\n    while True: pass", entry_point="f")
    with race(broken, nonsense, endless, DOUBLE, inputs=(b"1",)) as programs:
        laps = worker.take_turns(programs, [ProgramStep(n, 0) for n in range(4)])
    assert "ZeroDivisionError" in laps[0].error
    assert laps[1].error
    assert laps[2].error in {"cpu", "wall"}  # which comes first, the machine's load decides
    assert (laps[3].error, laps[3].answers) == ("", (b"2",))


def test_a_sleeper_costs_no_time_of_the_processor(worker: Worker) -> None:
    asleep = Program("import time\ndef f(n):\n    time.sleep(0.05)\n    return n", entry_point="f")
    with race(asleep, inputs=(b"1",)) as programs:
        (lap,) = worker.take_turns(programs, [ProgramStep(0, 0)])
    assert lap.wall_s > 0.05 > lap.cpu_s


def test_a_turn_without_a_pass_is_what_a_turn_costs(worker: Worker) -> None:
    with race(DOUBLE) as programs:
        (lap,) = worker.take_turns(programs, [ProgramStep(0, 0, passes=0)])
    assert lap.error == ""
    assert lap.cpu_s < 0.01


def test_tests_are_judged_as_before_after_a_race(worker: Worker) -> None:
    with race(DOUBLE) as programs:
        worker.take_turns(programs, [ProgramStep(0, 0)])
        (execution,) = worker.run(DOUBLE, [b"4"], Limits())
        assert execution.value == 8
        (lap,) = worker.take_turns(programs, [ProgramStep(0, 0)])
        assert lap.answers == (b"2", b"42")


def test_a_killed_fork_server_is_the_sandbox_s_failure(worker: Worker) -> None:
    with race(DOUBLE) as programs:
        worker.take_turns(programs, [ProgramStep(0, 0)])
        worker.kill()
        (lap,) = worker.take_turns(programs, [ProgramStep(0, 0)])  # a new one took its place
        assert lap.answers == (b"2", b"42")


def test_a_race_has_room_for_so_many() -> None:
    with pytest.raises(ValueError, match="1 to 8"):
        race(*[DOUBLE] * (MOST_PROGRAMS + 1))
    with pytest.raises(ValueError, match="1 to 8"):
        race()


def test_a_preamble_that_is_none_is_said(worker: Worker) -> None:
    bad = Program("def f(n): return n", preamble="def", entry_point="f")
    with race(bad) as programs, pytest.raises(SandboxError, match="preamble"):
        worker.take_turns(programs, [ProgramStep(0, 0)])
