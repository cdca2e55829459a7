"""Kills a run at random moments and goes on with it, at a server that knows what was asked.

What is looked at: a response that stands in a transcript when the process dies is never requested
again, and in the end every sample is there once.
"""

import asyncio
import json
import random
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chat_server import ChatServer, Reply, Solver
from program import finish, start

EARLY = 0.1  # of the kills come at a random moment of the start
Key = tuple[str, int]
"""A problem's title, and how many answers the request holds."""


@dataclass
class Asked:
    """A solver that counts what it is asked, by problem and turn."""

    solver: Solver
    latency_s: float = 0.01
    since: Counter[Key] = field(default_factory=Counter[Key])
    total: int = 0

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        self.since[self.solver.title_in(body) or "", said] += 1
        self.total += 1
        return Reply(self.solver(body, number).body, silence_s=self.latency_s)


@dataclass
class Seen:
    """What came of it.

    Attributes:
        kills: processes that died by a kill, and `early` of them before their first request.
        recorded: responses that stood in a transcript when a process was killed.
        again: requests for one of these.
        requests: in all; `needed` is what they would have been without a kill.
        results: the samples committed in the end, in order.
    """

    kills: int = 0
    early: int = 0
    recorded: int = 0
    again: list[Key] = field(default_factory=list[Key])
    requests: int = 0
    needed: int = 0
    results: list[str] = field(default_factory=list[str])


def recorded(run: Path, titles: dict[str, str]) -> Counter[Key]:
    """The responses that stand in the transcripts of a run, whole lines alone."""
    found: Counter[Key] = Counter()
    for path in (run / "transcripts").glob("*.jsonl"):
        turns: set[int] = set()
        problem = ""
        for line in path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                continue
            event = json.loads(line)
            if event["event"] == "sample_start":
                problem = event["problem_id"]
            if event["event"] == "response":
                turns.add(event["turn"])
        found.update((titles[problem], turn - 1) for turn in turns)
    return found


async def _moment(
    server: ChatServer, ending: asyncio.Future[Any], moments: random.Random, longest_s: float
) -> None:
    """Wait for a random moment: of the start, now and then, else after the first request."""
    if moments.random() < EARLY:
        await asyncio.wait([ending], timeout=moments.uniform(0, longest_s))
        return
    first = asyncio.ensure_future(server.arrived(len(server.requests) + 1))
    await asyncio.wait([first, ending], return_when=asyncio.FIRST_COMPLETED)
    first.cancel()
    await asyncio.wait([ending], timeout=moments.uniform(0, longest_s))


async def kill_and_go_on(
    folder: Path,
    asked: Asked,
    titles: dict[str, str],
    *,
    kills: int,
    samples_per_problem: int,
    seed: int,
    longest_s: float,
) -> Seen:
    """One run, killed at random moments as often as told, or until it is done.

    Args:
        folder: where the run is made, as `r`.
        asked: the server's script.
        titles: the problems' titles by id.
        kills: most processes to kill.
        samples_per_problem: attempts at each bundled problem.
        seed: of the moments.
        longest_s: a process is killed within so many seconds of its first request, now and then of
            its start.
    """
    moments, seen = random.Random(seed), Seen()
    async with ChatServer(asked) as server:
        flags = ["-b", "fixture", "-k", str(samples_per_problem), "--agentic-mode", "-m", "served"]
        command = ["run", *flags, "--base-url", server.base_url, "--out", "r"]
        done = False
        while not done:
            known = recorded(folder / "r", titles)
            asked.since.clear()
            process = await start(folder, *command)
            ending = asyncio.ensure_future(finish(process))
            if seen.kills < kills:
                await _moment(server, ending, moments, longest_s)
            done = ending.done() or seen.kills >= kills
            if not done:
                process.kill()
                seen.kills += 1
                seen.early += not asked.since
            code, _, err = await ending
            assert code == (0 if done else -signal.SIGKILL), err
            left = Counter({key: samples_per_problem - count for key, count in known.items()})
            seen.again += [key for key in known if asked.since[key] > left[key]]
            seen.recorded += sum(known.values())
        seen.requests = asked.total
    lines = (folder / "r" / "results.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    seen.results = sorted(row["sample"] for row in rows)
    seen.needed = sum(row["model_calls"] for row in rows)
    return seen
