"""`harness run --agent-command`: one agent per sample, isolated from hidden tests."""

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_agents import Agents, ends, long_while
from program import WITHOUT_NAMESPACES, finish, harness, results, start, started_by

from harness.agent.events import AgentLeft
from harness.errors import UsageError
from harness.features.evaluate.start_or_resume import Running
from harness.run.store.transcripts import Transcripts

NEEDLE = "48151623420815"


@pytest.fixture
def with_older_runs(tmp_path: Path) -> Path:
    """Problems whose hidden tests and references carry a needle, and an older run of them."""
    rows = [
        {
            "id": f"sum-{number}",
            "statement": "Read two integers and print their sum.",
            "tests": [
                {"input": "1 2\n", "output": "3\n", "public": True},
                {"input": f"{NEEDLE} 0\n", "output": f"{NEEDLE}\n", "public": False},
            ],
            "references": [f"print(sum(map(int, input().split())))  # {NEEDLE}\n"],
        }
        for number in range(2)
    ]
    (tmp_path / "own.jsonl").write_text(json_lines(rows))
    for place in ("older", "runs/oldest"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "run.json").write_text("{}")
        (tmp_path / place / "results.jsonl").write_text(NEEDLE)
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "rows.json").write_text(NEEDLE)
    (tmp_path / "plain").mkdir(mode=0o755)
    (tmp_path / "plain" / "notes.txt").write_text("nothing of interest")
    tmp_path.chmod(0o755)
    return tmp_path


def shown(agents: Agents) -> list[str]:
    return [word for path in agents.shows for word in ("--agent-read", path)]


def begun(folder: Path, agents: Agents, command: str, *flags: str, **env: str) -> Any:
    base = ["run", "-b", "jsonl:own.jsonl", "-n", "1", "--out", "r"]
    env = {"HF_HOME": str(folder / "hub")} | env
    return harness(folder, *base, "--agent-command", command, *shown(agents), *flags, **env)


def left(run: Path) -> AgentLeft:
    transcripts = Transcripts(run)
    (name,) = transcripts.names()
    (event,) = [e for e in transcripts.events(name) if isinstance(e, AgentLeft)]
    return event


def hunt(agents: Agents, folder: Path, where: str = sys.base_prefix) -> str:
    """The command of an agent that looks where the data lies, then everywhere but in `where`."""
    places = [folder / name for name in ("own.jsonl", "older", "runs", "r", "hub")]
    return agents.line("hunts.py", NEEDLE.encode().hex(), where, *map(str, places))


@pytest.mark.usefixtures("namespaces")
def test_one_that_hunts_for_hidden_tests_finds_none(with_older_runs: Path, agents: Agents) -> None:
    done = begun(
        with_older_runs, agents, hunt(agents, with_older_runs), "--agent-read", str(with_older_runs)
    )
    assert done.returncode == 0, done.stderr
    gone = left(with_older_runs / "r")
    assert "FOUND" not in gone.stdout, gone.stdout
    assert gone.exit_code == 0, gone.stderr
    assert f"SAW {with_older_runs}/plain/notes.txt" in gone.stdout  # what it is shown it sees
    assert int(gone.stdout.rpartition("SEARCHED")[2]) > 20
    assert "WITHOUT A KEY 401" in gone.stdout
    assert "OTHER KEY 401" in gone.stdout
    (result,) = results(with_older_runs / "r")
    assert result["confined"] is True
    assert json.loads((with_older_runs / "r" / "run.json").read_text())["agent"]["confined"] is True


@pytest.mark.thorough
def test_the_same_one_finds_them_where_nothing_keeps_it_and_that_is_marked(
    with_older_runs: Path, agents: Agents
) -> None:
    command = hunt(agents, with_older_runs, "named")
    done = begun(with_older_runs, agents, command, "--set", "agent_without_namespace=true")
    assert done.returncode == 0, done.stderr
    output = left(with_older_runs / "r").stdout
    for name in ("own.jsonl", "older", "runs", "hub"):
        assert f"FOUND {with_older_runs / name}" in output
    assert "NOT isolated from hidden tests" in done.stderr
    assert "1 sample by an agent not isolated from hidden tests" in done.stdout
    (result,) = results(with_older_runs / "r")
    assert result["confined"] is False
    manifest = json.loads((with_older_runs / "r" / "run.json").read_text())
    limits = {"seconds": 1_800.0, "tool_calls": 200, "memory_mib": 4_096}
    agent = {"command": command.split(), "confined": False, "limits": limits}
    assert manifest["agent"] == agent
    assert manifest["spec"]["agent_without_namespace"] is True


@pytest.mark.thorough
def test_where_no_namespace_can_be_made_it_is_refused_but_for_a_flag(
    with_older_runs: Path, agents: Agents
) -> None:
    base = ["run", "-b", "jsonl:own.jsonl", "-n", "1", "--out", "r"]
    base += ["--agent-command", agents.line("acts.py", "right")]
    done = started_by(WITHOUT_NAMESPACES, with_older_runs, *base, *shown(agents))
    assert done.returncode == 2
    assert "--set agent_without_namespace" in done.stderr.splitlines()[-1]
    assert not (with_older_runs / "r").exists()
    done = started_by(
        WITHOUT_NAMESPACES, with_older_runs, *base, "--set", "agent_without_namespace=true"
    )
    assert done.returncode == 0, done.stderr
    (result,) = results(with_older_runs / "r")
    assert (result["verdict"], result["confined"]) == ("accepted", False)


@pytest.mark.usefixtures("namespaces")
def test_an_agent_s_solution_is_an_ordinary_result(with_older_runs: Path, agents: Agents) -> None:
    command = agents.line("acts.py", "hello", "read", "right", "run")
    done = begun(with_older_runs, agents, command, "-m", "my agent", "--set", "max_tool_calls=9")
    assert done.returncode == 0, done.stderr
    (result,) = results(with_older_runs / "r")
    assert (result["verdict"], result["hidden_passed"], result["tool_calls"]) == ("accepted", 1, 3)
    assert (result["usage"], result["cost"], result["model_calls"]) == (None, None, 0)
    assert "not isolated" not in done.stdout
    assert "tokens unknown" in " ".join(done.stdout.split())
    assert "may bill" not in done.stderr
    manifest = json.loads((with_older_runs / "r" / "run.json").read_text())
    assert manifest["spec"]["model"] == "agent:my agent"
    assert manifest["agent"]["command"] == command.split()
    again = harness(with_older_runs, "run", "--resume", "r")
    assert again.returncode == 0, again.stderr
    assert "all of them done" in again.stderr
    transcript = harness(with_older_runs, "transcript", "r", "jsonl/sum-0")
    assert "test agent 1 left after" in transcript.stdout, transcript.stderr
    assert "All 1 public tests passed" in transcript.stdout
    for kind in ("csv", "junit", "openai-messages"):
        out = harness(with_older_runs, "export", "r", "--to", kind)
        assert out.returncode == 0, out.stderr
        assert "sum-0" in out.stdout
    replayed = harness(
        with_older_runs,
        *("run", "-m", "replay:r", "--agentic-mode", "-b", "jsonl:own.jsonl", "-n", "1"),
        *("--set", "stop_on_pass=false", "--out", "again"),
    )
    assert replayed.returncode == 0, replayed.stderr
    assert results(with_older_runs / "again")[0]["verdict"] == "accepted"
    compared = harness(with_older_runs, "compare", "again", "r", "--details")
    assert (
        "turns, tokens and costs cannot be compared: B is the work of an external agent"
        in " ".join(compared.stdout.split())
    )
    shown_again = harness(with_older_runs, "show", "r")
    assert shown_again.returncode == 0, shown_again.stderr
    page = harness(with_older_runs, "report", "r", "again", "-o", "page.html")
    assert page.returncode == 0, page.stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("namespaces")
def test_the_mcp_package_speaks_to_it_too(with_older_runs: Path, agents: Agents) -> None:
    """The package is the test's own: installed where the harness is, and shown to the agent."""
    import mcp

    packages = str(Path(mcp.__file__).resolve().parents[1])
    path = f"{packages}"
    command = agents.line("by_the_sdk.py", "{mcp_config}")
    done = begun(
        with_older_runs,
        agents,
        f"env PYTHONPATH={shlex.quote(str(path))} {command.replace(' -E', '')}",
        "--agent-read",
        path,
    )
    assert done.returncode == 0, done.stderr
    (result,) = results(with_older_runs / "r")
    assert (result["verdict"], result["tool_calls"]) == ("accepted", 3)
    assert left(with_older_runs / "r").client.startswith("mcp")


@pytest.mark.thorough
@pytest.mark.usefixtures("namespaces")
def test_an_agent_sees_only_the_environment_it_is_given(
    with_older_runs: Path, agents: Agents
) -> None:
    steps = ("hello", "tell=MY_KEY", "tell=OTHER_KEY", "tell=LANG", "right")
    secrets = {"MY_KEY": "planted-one", "OTHER_KEY": "planted-two"}
    command = agents.line("acts.py", *steps)
    done = begun(with_older_runs, agents, command, "--agent-env", "MY_KEY", **secrets)
    assert done.returncode == 0, done.stderr
    assert left(with_older_runs / "r").stderr.split() == ["[MY_KEY]", "None", "C.UTF-8"]
    kept = [path.read_text() for path in (with_older_runs / "r").rglob("*") if path.is_file()]
    assert "planted" not in "".join(kept)


def test_an_agent_s_program_is_found_in_the_virtual_environment_that_is_not_active(
    with_older_runs: Path, agents: Agents
) -> None:
    command = f"python -E -s {agents.folder / 'acts.py'} hello tell=PATH right"
    done = begun(
        with_older_runs, agents, command, "--set", "agent_without_namespace=true", PATH="/nowhere"
    )
    assert done.returncode == 0, done.stderr
    assert left(with_older_runs / "r").stderr.split() == [f"{Path(sys.executable).parent}:/nowhere"]


SH = {"agent_command": "sh"}


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"agent_command": "no-such-program"}, "there is no program no-such-program"),
        ({"agent_command": "it's"}, "--agent-command: no closing quotation"),
        ({"agent_command": ""}, "--agent-command is empty"),
        ({"mode": "external"}, "--mode external needs the agent"),
        (SH | {"temperature": 1.0}, "--temperature"),
        (SH | {"max_cost": 1.0}, "--max-cost"),
        (SH | {"max_turns": 3}, "--max-turns"),
        (SH | {"batch": True}, "--batch"),
        (SH | {"base_url": "http://x"}, "--base-url"),
        (SH | {"executor": "ray"}, "--set executor"),
        (SH | {"stop_on_pass": False}, "--set stop_on_pass goes with"),
        (SH | {"mode": "agentic"}, "--agent-command goes with --mode external"),
        (SH | {"agent_read": ["gone"]}, "--agent-read gone: there is nothing"),
        (SH | {"agent_read": ["own.jsonl"]}, "holds data of the harness"),
        (SH | {"agent_read": ["older"]}, "holds data of the harness"),
        (SH | {"agent_read": ["hub/rows.json"]}, "holds data of the harness"),
        (SH | {"agent_env": ["UNSET"]}, "--agent-env UNSET"),
        ({"agent_read": ["plain"]}, "--agent-read goes with --mode external"),
        ({"agent_memory": 100}, "--set agent_memory goes with --mode external"),
        ({"mode": "mcp"}, "`harness mcp --problem ID` begins such a run"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_one_line(
    with_older_runs: Path, flags: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.chdir(with_older_runs)
    monkeypatch.setattr(constants, "HF_HOME", str(with_older_runs / "hub"))
    base = {"benchmark": "jsonl:own.jsonl", "model": "x", "sample_size": 1}
    with pytest.raises(UsageError) as refused:
        Running(as_json=False).start({**base, **flags}, out=Path("r"), config=None)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not Path("r").exists()


@pytest.mark.thorough
@pytest.mark.usefixtures("namespaces")
def test_one_that_never_begins_leaves_its_sample_pending(
    with_older_runs: Path, agents: Agents
) -> None:
    done = begun(with_older_runs, agents, agents.line("acts.py", "exit=9"))
    assert done.returncode == 4
    assert "exit code 9 and called no tool" in " ".join(done.stderr.split())
    assert results(with_older_runs / "r") == []
    mended = agents.folder / "mended.py"
    shutil.copy(agents.folder / "acts.py", mended)
    again = harness(
        with_older_runs,
        "run",
        "--resume",
        "r",
        "--agent-command",
        agents.line("mended.py", "right"),
    )
    assert again.returncode == 2
    assert "cannot be changed on --resume" in again.stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("namespaces")
async def test_an_interrupt_ends_it_and_another_one_begins_anew(
    with_older_runs: Path, agents: Agents
) -> None:
    seconds = long_while()
    command = agents.line("acts.py", "right", f"leave-behind={seconds}", "say=on", "sleep=60")
    base = ["run", "-b", "jsonl:own.jsonl", "-n", "1", "--out", "r"]
    base += ["--agent-command", command, *shown(agents)]
    process = await start(with_older_runs, *base, HF_HOME=str(with_older_runs / "hub"))
    path = with_older_runs / "r" / "transcripts" / "jsonl%2Fsum-0-0.jsonl"
    async with asyncio.timeout(60):
        while "tool_result" not in await asyncio.to_thread(_text, path):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    process.send_signal(signal.SIGINT)
    code, _, err = await finish(process)
    assert (code, "go on with: harness run --resume r" in err) == (130, True), err
    assert results(with_older_runs / "r") == []
    assert ends(f"sleep({seconds})")
    assert ends(f"leave-behind={seconds}")
    (agents.folder / "acts.py").rename(agents.folder / "kept.py")
    shutil.copy(agents.folder / "quick.py", agents.folder / "acts.py")
    try:
        done = harness(
            with_older_runs, "run", "--resume", "r", HF_HOME=str(with_older_runs / "hub")
        )
    finally:
        (agents.folder / "kept.py").rename(agents.folder / "acts.py")
    assert done.returncode == 0, done.stderr
    assert results(with_older_runs / "r")[0]["verdict"] == "accepted"
    transcript = harness(with_older_runs, "transcript", "r", "jsonl/sum-0").stdout
    assert "a new one starts" in transcript


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_any_user_may_keep_an_agent_from_the_data() -> None:
    """Root becomes somebody else for it: who started the harness need be nobody in particular."""
    setpriv, python = shutil.which("setpriv"), shutil.which("python3", path="/usr/bin")
    if os.getuid() != 0 or setpriv is None or python is None:
        pytest.skip("only root, with setpriv, becomes another user")
    code = (
        "import os, subprocess, sys\n"
        "from harness.features.external.agent_sandbox import environment_for\n"
        "from harness.features.external.agent_sandbox import *\n"
        "secret = sys.argv[1]\n"
        "room = AgentSandbox(confined=True, shows=(sys.argv[2],), hides=(secret,),\n"
        "            env=environment_for(os.environ, ()))\n"
        "probe(room, ['cat'])\n"
        "config = room.configuration(['sh', '-c', f'id -u; cat {secret}/s {sys.argv[2]}/open; "
        'cat /proc/1/environ; exec python3 -c "import ctypes; '
        "print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))\"'], SCRATCH, {})\n"  # PTRACE_ATTACH
        "with handed_over(config) as fd:\n"
        "    done = subprocess.run(helper(fd), pass_fds=[fd], env={}, capture_output=True)\n"
        "print(done.stdout.decode())\n"
    )
    user = [setpriv, "--reuid=12345", "--regid=12345", "--clear-groups"]
    root, packages = Path(__file__).parents[3], Path(pytest.__file__).resolve().parents[1]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{root}:{packages}", "PLANTED": NEEDLE}
    ready = [*user, python, "-B", "-c", "import harness.features.external.agent_sandbox"]
    if subprocess.run(ready, env=env, cwd="/", capture_output=True, check=False).returncode:
        pytest.skip(f"{python} cannot import the harness as another user")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "secret").mkdir()
        (place / "secret" / "s").write_text(NEEDLE)
        (place / "open").write_text("open\n")
        place.chmod(0o755)
        done = subprocess.run(
            [*user, python, "-B", "-c", code, str(place / "secret"), str(place)],
            env=env, cwd="/", capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    if "no namespace can be made" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.stdout.split() == ["1000", "open", "-1"], done.stderr
