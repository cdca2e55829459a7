"""Loopback servers of the batch APIs of OpenAI and Anthropic.

In a test:

    async with OpenAIBatchServer(script) as server:
        ...  # server.base_url, server.batches, server.ended = False

They also answer single requests. The script answers each request of a batch like a single one. In
a batch, a reply with a failed status is that request's error, and `EXPIRED` stands for a request
that was never started.
"""

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from chat_server import ChatServer, Json, Recorded, Reply, Script, failure
from messages_server import error, faults

EXPIRED = Reply(status=0)
ELSEWHERE = "https://elsewhere.invalid/results"  # another host than the one the key is for
SECONDS = 4321  # duration of a batch, by the provider's clock
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass
class Held:
    """A batch at the provider.

    Attributes:
        fields: fields of the request that made it.
        answers: replies by custom id.
        refusal: code and message if it failed as a whole.
    """

    id: str
    created: float
    fields: Json
    answers: dict[str, Reply]
    refusal: tuple[str, str] | None = None


class BatchServer(ChatServer):
    """Base class of both servers.

    Attributes:
        batches: all batches, oldest first.
        ended: whether batches have ended; False leaves them in progress.
        refusals: code and message for each of the next batches that fail as a whole.
        lost: number of next batches that are made, but whose response is lost.
        deaf: number of next attempts to make a batch that fail without a response.
        asked: custom ids of all requests in batches, in order.
    """

    def __init__(self, script: Script, *, port: int = 0) -> None:
        super().__init__(script, port=port)
        self.batches: list[Held] = []
        self.ended = True
        self.refusals: list[tuple[str, str]] = []
        self.lost = self.deaf = 0
        self.asked: list[str] = []
        self.clock: float = datetime.now(UTC).timestamp()

    def calls(self, method: str, path: str) -> list[Recorded]:
        """Return the requests with a method and an end of the path, ignoring the query."""
        return [
            each
            for each in self.requests
            if each.method == method and urlsplit(each.path).path.endswith(path)
        ]

    async def ask(self, body: Json) -> Reply:
        """Return the script's reply to one request."""
        reply = self._script(body, len(self.asked))
        return await reply if inspect.isawaitable(reply) else reply

    async def make(self, fields: Json, requests: Sequence[tuple[str, Json]]) -> Held | None:
        """Make a new batch; None if the attempt fails."""
        if self.deaf:
            self.deaf -= 1
            return None
        refusal = self.refusals.pop(0) if self.refusals else None
        answers: dict[str, Reply] = {}
        for name, body in () if refusal else requests:
            assert CUSTOM_ID.fullmatch(name), name
            assert name not in answers, "custom ids are unique within a batch"
            answers[name] = await self.ask(body)
            self.asked.append(name)
        batch = Held(f"batch_{len(self.batches)}", self.clock, fields, answers, refusal)
        self.batches.append(batch)
        return batch

    def made(self, batch: Held | None, shown: Json) -> Reply:
        """Return the reply to the request that made a batch."""
        if batch is None:
            return Reply(reset=True)
        if self.lost:
            self.lost -= 1
            return Reply(reset=True)
        return Reply(body=shown)

    def batch(self, name: str) -> Held | None:
        return next((batch for batch in self.batches if batch.id == name), None)


def jsonl(lines: Sequence[Json]) -> Reply:
    return Reply(
        body=b"".join(json.dumps(line).encode() + b"\n" for line in lines),
        content_type="application/binary",
    )


class OpenAIBatchServer(BatchServer):
    """OpenAI's files and batches."""

    def __init__(self, script: Script, *, port: int = 0) -> None:
        super().__init__(script, port=port)
        self.files: dict[str, bytes] = {}

    def serves(self, method: str, path: str) -> bool:
        del method
        return urlsplit(path).path.startswith("/v1/")

    def parse(self, raw: bytes, headers: Mapping[str, str]) -> Json:
        kind = headers.get("content-type", "")
        if not kind.startswith("multipart/form-data"):
            return super().parse(raw, headers)
        message = message_from_bytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + raw)
        parts = cast("list[Any]", message.get_payload())
        named = {part.get_param("name", header="content-disposition"): part for part in parts}
        return {name: part.get_payload(decode=True) for name, part in named.items()}

    async def answer(self, request: Recorded, number: int) -> Reply:  # noqa: PLR0911 - one each
        del number
        match request.method, urlsplit(request.path).path.split("/")[2:]:
            case "POST", ["files"]:
                return self._upload(request.body)
            case "POST", ["batches"]:
                return await self._make(request.body)
            case "GET", ["batches"]:
                return self._list(request.path)
            case "GET", ["batches", name] if batch := self.batch(name):
                return Reply(body=self.shown(batch))
            case "GET", ["files", name, "content"] if name in self.files:
                return Reply(body=self.files[name], content_type="application/octet-stream")
            case "POST", ["responses"] | ["chat", "completions"]:
                return await self.ask(request.body)
            case _:
                return failure(404, f"no {request.path} here")

    def _upload(self, form: Json) -> Reply:
        assert form["purpose"] == b"batch"
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"]
        return Reply(body={"id": name, "object": "file", "purpose": "batch", "status": "processed"})

    async def _make(self, fields: Json) -> Reply:
        assert fields["completion_window"] == "24h"
        requests: list[tuple[str, Json]] = []
        for line in self.files[fields["input_file_id"]].splitlines():
            entry = json.loads(line)
            assert (entry["method"], entry["url"]) == ("POST", fields["endpoint"])
            requests.append((entry["custom_id"], entry["body"]))
        batch = await self.make(fields, requests)
        if batch is None:
            return Reply(reset=True)
        self._write(batch)
        return self.made(batch, self.shown(batch))

    def _list(self, path: str) -> Reply:
        query = parse_qs(urlsplit(path).query)
        newest = [self.shown(batch) for batch in reversed(self.batches)]
        if "after" in query:
            names = [batch["id"] for batch in newest]
            newest = newest[names.index(query["after"][0]) + 1 :]
        page = newest[: int(query.get("limit", ["20"])[0])]
        return Reply(body={"object": "list", "data": page, "has_more": len(page) < len(newest)})

    def _write(self, batch: Held) -> None:
        """Write its output and error files at once; they are visible when it has ended."""
        outputs, errors = self._lines(batch)
        for kind, lines in (("output", outputs), ("error", errors)):
            if lines:
                self.files[f"{kind}-{batch.id}"] = cast("bytes", jsonl(lines).body)

    def _lines(self, batch: Held) -> tuple[list[Json], list[Json]]:
        outputs: list[Json] = []
        errors: list[Json] = []
        for name, reply in reversed(batch.answers.items()):  # in arbitrary order
            line: Json = {"id": f"batch_req_{name}", "custom_id": name, "error": None}
            if reply is EXPIRED:
                message = "This request could not be executed before the window expired."
                line |= {"response": None, "error": {"code": "batch_expired", "message": message}}
                errors.append(line)
                continue
            line["response"] = {
                "status_code": reply.status,
                "request_id": f"req_{name}",
                "body": reply.body,
            }
            (outputs if reply.status == 200 else errors).append(line)
        return outputs, errors

    def shown(self, batch: Held) -> Json:
        outputs, errors = self._lines(batch)
        expired = EXPIRED in batch.answers.values()
        status = "in_progress"
        if batch.refusal:
            status = "failed"
        elif self.ended:
            status = "expired" if expired else "completed"
        shown: Json = {
            **batch.fields,
            "id": batch.id,
            "object": "batch",
            "status": status,
            "created_at": int(batch.created),
            f"{status}_at": int(batch.created) + SECONDS,
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": len(batch.answers), "completed": 0, "failed": 0},
        }
        if batch.refusal:
            code, message = batch.refusal
            listed = [{"code": code, "message": message, "line": 1, "param": None}]
            shown["errors"] = {"object": "list", "data": listed}
        elif self.ended:
            shown["output_file_id"] = f"output-{batch.id}" if outputs else None
            shown["error_file_id"] = f"error-{batch.id}" if errors else None
            shown["request_counts"] |= {"completed": len(outputs), "failed": len(errors)}
        return shown


class AnthropicBatchServer(BatchServer):
    """Anthropic's message batches."""

    @property
    def base_url(self) -> str:
        return super().base_url.removesuffix("/v1")

    def serves(self, method: str, path: str) -> bool:
        del method
        return urlsplit(path).path.startswith("/v1/messages")

    async def answer(self, request: Recorded, number: int) -> Reply:
        del number
        assert request.headers["authorization"], "every request carries the key"
        assert request.headers["anthropic-version"]
        match request.method, urlsplit(request.path).path.split("/")[2:]:
            case "POST", ["messages"]:
                return await self.ask(request.body)
            case "POST", ["messages", "batches"]:
                requests = [
                    (each["custom_id"], each["params"]) for each in request.body["requests"]
                ]
                batch = await self.make({}, requests)
                return self.made(batch, self.shown(batch) if batch else {})
            case "GET", ["messages", "batches"]:
                return self._list(request.path)
            case "GET", ["messages", "batches", name] if batch := self.batch(name):
                return Reply(body=self.shown(batch))
            case "GET", ["messages", "batches", name, "results"] if batch := self.batch(name):
                assert self.ended
                return jsonl([_result(*each) for each in reversed(batch.answers.items())])
            case _:
                return error(404, "not_found_error", f"no {request.path} here")

    async def ask(self, body: Json) -> Reply:
        fault = next(faults(body), None)
        return error(400, "invalid_request_error", fault) if fault else await super().ask(body)

    def _list(self, path: str) -> Reply:
        query = parse_qs(urlsplit(path).query)
        newest = [self.shown(batch) for batch in reversed(self.batches)]
        if "after_id" in query:
            names = [batch["id"] for batch in newest]
            newest = newest[names.index(query["after_id"][0]) + 1 :]
        page = newest[: int(query.get("limit", ["20"])[0])]
        ids = {"first_id": None, "last_id": page[-1]["id"] if page else None}
        return Reply(body={"data": page, "has_more": len(page) < len(newest), **ids})

    def shown(self, batch: Held) -> Json:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        for reply in batch.answers.values():
            counts[_kind(reply) if self.ended else "processing"] += 1
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if self.ended else "in_progress",
            "request_counts": counts,
            "created_at": _date(batch.created),
            "expires_at": _date(batch.created + 86_400),
            "ended_at": _date(batch.created + SECONDS) if self.ended else None,
            "results_url": ELSEWHERE if self.ended else None,  # must not be requested
        }


def _kind(reply: Reply) -> str:
    if reply is EXPIRED:
        return "expired"
    return "succeeded" if reply.status == 200 else "errored"


def _result(name: str, reply: Reply) -> Json:
    kind = _kind(reply)
    held = {"succeeded": {"message": reply.body}, "errored": {"error": reply.body}}.get(kind, {})
    return {"custom_id": name, "result": {"type": kind, **held}}


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
