"""Kills a run at random moments and resumes it, while a server counts requests.

Checks that a response in a transcript at the time of a kill is never requested again, and that in
the end every sample is there once.
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

EARLY = 0.1  # fraction of the kills that happen at a random moment of the start
Key = tuple[str, int]
"""A problem's title, and the number of answers in the request."""


@dataclass
class Asked:
    """A solver that counts its requests by problem and turn."""

    solver: Solver
    latency_s: float = 0.01
    since: Counter[Key] = field(default_factory=Counter[Key])
    total: int = 0

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        total = sum(message["role"] == "assistant" for message in body["messages"])
        self.since[self.solver.title_in(body) or "", total] += 1
        self.total += 1
        return Reply(self.solver(body, number).body, silence_s=self.latency_s)


@dataclass
class Seen:
    """Observations on a run.

    Attributes:
        kills: number of processes that were killed.
        early: number of those killed before their first request.
        recorded: number of responses in a transcript when a process was killed.
        again: repeated requests for such responses.
        requests: number of all requests; `needed` is the number without kills.
        results: the committed samples, in order.
    """

    kills: int = 0
    early: int = 0
    recorded: int = 0
    again: list[Key] = field(default_factory=list[Key])
    requests: int = 0
    needed: int = 0
    results: list[str] = field(default_factory=list[str])


def recorded(run: Path, titles: dict[str, str]) -> Counter[Key]:
    """Return the responses in a run's transcripts, in complete lines."""
    responses: Counter[Key] = Counter()
    for path in (run / "transcripts").glob("*.jsonl"):
        turns: set[int] = set()
        problem = ""
        for line in path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                continue
            event = json.loads(line)
            if event["event"] == "sample_start":
                problem = event["sample"].rpartition("#")[0]
            if event["event"] == "response":
                turns.add(event["turn"])
        responses.update((titles[problem], turn - 1) for turn in turns)
    return responses


async def _moment(
    server: ChatServer, ending: asyncio.Future[Any], moments: random.Random, longest_s: float
) -> None:
    """Wait for a random moment: sometimes of the start, else after the first request."""
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
    """Kill one run at random moments, until it is complete or `kills` is reached.

    Args:
        folder: folder of the run `r`.
        asked: the server's script.
        titles: the problems' titles by id.
        kills: largest number of processes to kill.
        samples_per_problem: attempts at each bundled problem.
        seed: seed of the random moments.
        longest_s: largest number of seconds before a kill, after the first request or sometimes
            the start.
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
            done = done or code == 0  # it had ended before it was killed
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
