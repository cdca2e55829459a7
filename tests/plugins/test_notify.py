import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from for_each import for_each
from ports import deserted_port
from program import harness
from webhook_server import SILENT, Hook, webhook_server
from written import link_written

from harness.errors import UsageError
from harness.features.observers.attach import watchers_of
from harness.features.observers.observer_events import (
    RunEnded,
    RunFailed,
    RunStarted,
    SampleStarted,
)
from harness.features.observers.webhook import (
    TRIES,
    NotifyError,
    Webhook,
    body_for,
    text_of,
)
from harness.run.summary.summary import summarize

SECRET = "T012/B345/s3cr3tpath"
STARTED = RunStarted(
    run="runs/a", model="m", mode="agentic", prompt="default", problems=3, samples=6, left=4
)
FAILED = RunFailed(run="runs/a", cause="StorageError: disk is full")


def _ended(**pending: int) -> RunEnded:
    return RunEnded(run="runs/a", outcome="done", summary=summarize([], 2, pending))


def _to(hook: Hook, path: str = "/hook", **changes: Any) -> Webhook:
    return replace(Webhook.of(hook.url + path), **{"pause_s": 0.01, **changes})


def test_a_run_tells_its_beginning_and_end_as_versioned_json(tmp_path: Path) -> None:
    with webhook_server() as hook:
        url = f"{hook.url}/{SECRET}?token=alsosecret"
        asked = (*link_written(tmp_path), "-n", "2", "--out", "r")
        done = harness(tmp_path, "run", *asked, "--notify", url)
    assert done.returncode == 0, done.stderr
    begun, ended = (each.body for each in hook.posted)
    assert {each.target for each in hook.posted} == {f"/{SECRET}?token=alsosecret"}
    assert hook.posted[0].headers["content-type"] == "application/json"
    assert (begun["schema_version"], begun["event"], begun["samples"]) == (1, "run_started", 2)
    assert (ended["schema_version"], ended["event"], ended["outcome"]) == (1, "run_ended", "done")
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert ended["summary"] == summary
    assert ended["text"].startswith("harness: run r is done: pass@1 50.0 % (")
    _no_secret(tmp_path, done.stdout + done.stderr)


def _no_secret(folder: Path, output: str) -> None:
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert kept
    for secret in (b"s3cr3tpath", b"alsosecret", b"hunter2"):
        assert not [text for text in (*kept, output.encode()) if secret in text]


def test_an_address_is_nowhere_to_be_seen_where_it_does_not_answer_either(tmp_path: Path) -> None:
    with webhook_server([404]) as hook:
        url = f"{hook.url.replace('//', '//me:hunter2@')}/{SECRET}?token=alsosecret"
        done = harness(tmp_path, "run", "-n", "1", "--out", "r", HARNESS_NOTIFY=url)
    assert done.returncode == 0, done.stderr
    host = urlsplit(hook.url).netloc
    line = f"--notify {host}: it failed at 2 of 2 events, at first by NotifyError: status 404"
    assert line in done.stderr.splitlines()
    assert len(hook.posted) == 2, "what is refused is not sent again"
    assert hook.posted[0].headers["authorization"] == "Basic bWU6aHVudGVyMg=="
    _no_secret(tmp_path, done.stdout + done.stderr)


def test_what_slack_takes_is_sent_to_slack(tmp_path: Path) -> None:
    """Through a proxy, so that the host is Slack's own and the server is ours."""
    with webhook_server() as hook:
        url = f"http://hooks.slack.com/services/{SECRET}"
        flags = ["-n", "1", "--out", "r<&>", "--notify", url]
        done = harness(tmp_path, "run", *flags, http_proxy=hook.url)
    assert done.returncode == 0, done.stderr
    assert [each.target for each in hook.posted] == [url, url]
    assert [list(each.body) for each in hook.posted] == [["text"], ["text"]]
    assert "run r&lt;&amp;&gt; is done" in hook.posted[1].body["text"]


@for_each(
    ("url", "keys"),
    [
        ("https://hooks.slack.com/services/T/B/x", {"text"}),
        ("https://hooks.slack-gov.com/services/T/B/x", {"text"}),
        ("https://discord.com/api/webhooks/1/x", {"content", "allowed_mentions"}),
        ("https://canary.discord.com/api/webhooks/1/x", {"content", "allowed_mentions"}),
        ("https://discordapp.com/api/webhooks/1/x", {"content", "allowed_mentions"}),
        ("https://DISCORD.com/api/webhooks/1/x/slack", {"text"}),
        ("https://slack.com.example.org/x", {"text", *RunFailed.model_fields}),
        ("https://notslack.com/x", {"text", *RunFailed.model_fields}),
    ],
)
def test_the_form_of_a_notification_follows_the_host(url: str, keys: set[str]) -> None:
    body = body_for(urlsplit(url), FAILED)
    assert body.keys() == keys
    assert "disk is full" in json.dumps(body)


def test_nobody_is_mentioned_and_no_text_is_too_long() -> None:
    long = RunFailed(run="<!channel> @everyone", cause="x" * 10_000 + "\n@here")
    discord = body_for(urlsplit("https://discord.com/api/webhooks/1/x"), long)
    assert discord["allowed_mentions"] == {"parse": []}
    assert len(discord["content"]) < 2_000
    slack = body_for(urlsplit("https://hooks.slack.com/services/x"), long)
    assert "<" not in slack["text"]


def test_the_texts_of_a_run_s_start_failure_and_end() -> None:
    assert text_of(STARTED) == (
        "harness: run runs/a has begun: agentic, m, 3 problems, 6 samples, 4 pending"
    )
    assert text_of(FAILED) == "harness: run runs/a failed: StorageError: disk is full"
    assert text_of(_ended(model_error=1)) == (
        "harness: run runs/a is done: 0 of 2 samples graded, pending: 1 model error, 1 not run"
    )


@for_each("status", [429, 500, 503])
def test_a_passing_failure_of_a_webhook_is_sent_again(status: int) -> None:
    with webhook_server([status, 200]) as hook:
        _to(hook)(FAILED)
    assert [each.body["event"] for each in hook.posted] == ["run_failed"] * 2


def test_a_webhook_is_tried_a_few_times() -> None:
    with webhook_server([503]) as hook, pytest.raises(NotifyError, match=r"^status 503$"):
        _to(hook)(FAILED)
    assert len(hook.posted) == TRIES


@for_each("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with webhook_server([status, 200]) as hook, pytest.raises(NotifyError, match=f"{status}"):
        _to(hook)(FAILED)
    assert [each.target for each in hook.posted] == ["/hook"]


def test_a_webhook_that_does_not_answer_is_given_up() -> None:
    with webhook_server([SILENT]) as hook:
        with pytest.raises(NotifyError, match="no answer in time"):
            _to(hook, timeout_s=0.05)(FAILED)
        hook.arrived(TRIES)
    assert len(hook.posted) == TRIES


def test_an_unreachable_webhook_is_told_with_the_system_s_message() -> None:
    with deserted_port() as port:
        nobody = Webhook.of(f"http://127.0.0.1:{port}/{SECRET}")
        with pytest.raises(NotifyError) as caught:
            replace(nobody, pause_s=0.01)(FAILED)
    assert str(caught.value) == "cannot be reached: Connection refused"


def test_samples_are_nothing_to_write_to_a_chat_about() -> None:
    (watcher,) = watchers_of(None, ["http://127.0.0.1:9/x"])
    watcher.tell(SampleStarted(run="r", sample="a/b#0"))
    assert watcher._thread is None


@for_each(
    "url",
    [
        *("", "s3cr3t", "ftp://s3cr3t/x", "https://", "file:///s3cr3t", "https://h:99999/s3cr3t"),
        *("https://h/s3c r3t", "https://h/s3cr3\u00e9t", "https://h/s3cr\x1b3t", "https://[s3cr3t"),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        Webhook.of(url)
    assert "s3c" not in str(caught.value)
    assert "--notify: the address cannot be used" in str(caught.value)


def test_the_repr_of_a_webhook_hides_its_address() -> None:
    assert SECRET not in repr(Webhook.of(f"https://hooks.slack.com/services/{SECRET}"))


def test_a_run_that_is_broken_off_says_why(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def solve(problem):\n"
        "    import harness.run.store.results as r\n"
        "    def full(*_): raise OSError(28, 'No space left on device')\n"
        "    r.os.fsync = full\n"
        "    return 'print(1)'\n"
    )
    flags = ["-b", "fixture", "-n", "1", "-m", "python:mine:solve", "--out", "r"]
    with webhook_server() as hook:
        done = harness(tmp_path, "run", *flags, "--notify", hook.url)
    assert done.returncode == 4
    assert [each.body["event"] for each in hook.posted] == ["run_started", "run_failed"]
    assert "StorageError: r/results.jsonl: No space left on device" in hook.posted[1].body["text"]


@pytest.mark.thorough
def test_each_variant_of_an_experiment_is_told_of(tmp_path: Path) -> None:
    grid = "benchmark: fixture\nmodel: replay:bundled\nsample_size: 1\n"
    (tmp_path / "grid.yaml").write_text(f"{grid}modes: [single_shot, agentic]\n")
    with webhook_server() as hook:
        flags = ["-c", "grid.yaml", "--out", "e", "--notify", f"{hook.url}/{SECRET}"]
        done = harness(tmp_path, "experiment", *flags)
    assert done.returncode == 0, done.stderr
    events = [(each.body["event"], each.body.get("mode", "")) for each in hook.posted]
    begun = [("run_started", "single_shot"), ("run_started", "agentic")]
    assert events == [*begun, ("run_ended", ""), ("run_ended", "")], "they proceed in parts"
    _no_secret(tmp_path, done.stdout + done.stderr)


def test_an_empty_webhook_variable_notifies_nobody(tmp_path: Path) -> None:
    """As a workflow has it, where a secret is not to be had."""
    done = harness(tmp_path, "run", "--dry-run", HARNESS_NOTIFY="")
    assert done.returncode == 0, done.stderr
