"""Handlers of the viewer's URLs. No part of a URL is a path; keys are looked up."""

from collections.abc import Callable
from functools import partial
from hmac import compare_digest
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from harness.errors import DataError, HarnessError, RunDirectoryError, StorageError, UsageError
from harness.features.viewer.blocks import Blocks
from harness.features.viewer.efficiency_axis import strip_of
from harness.features.viewer.excerpts import PAGE, text_in
from harness.features.viewer.html import coloured, language_of, line, render
from harness.features.viewer.library import Library, Talk, created, winners
from harness.features.viewer.open_run import Item, OpenRun, key_of, refusal
from harness.features.viewer.query import (
    COLUMNS,
    Query,
    neighbours,
    page_number,
    page_of,
    select,
    sums,
    url_words,
)
from harness.features.viewer.transcript_index import PER_PAGE
from harness.run.store.deletion import delete_run, size_of
from harness.run.store.directory import is_under_way
from harness.run.store.origin import is_replay
from harness.run.store.results import SampleResult
from harness.run.store.transcript import transcript_command
from harness.run.summary.fact import Screen, table_rows
from harness.run.summary.sample_facts import sample_facts
from harness.text import printable

LONGEST_CODE = 20_000
MOST_FORM = 10_000  # most bytes of a form
Shown = dict[str, Any]


class Pages:
    """Pages of a library, read on request."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = Lock()

    async def delete(self, request: Request) -> Response:
        """Delete a run if the viewer's own form requests it."""
        form = parse_qs((await request.body())[:MOST_FORM].decode("utf-8", "replace"))
        word = form.get("word", [""])[0]
        if not compare_digest(word.encode(), request.scope["form_word"].encode()):
            return PlainTextResponse("This form is not the viewer's own.\n", 403)
        return await run_in_threadpool(self._delete, request)

    def _delete(self, request: Request) -> Response:
        with self._lock:
            try:
                place = self._library.run(request.path_params["run"]).place
                if why := refusal(self._library.root, place):
                    raise UsageError(f"{place.name}: {why}")
                delete_run(place.path, place.name)
            except KeyError:
                return PlainTextResponse("There is no such run.\n", 404)
            except HarnessError as error:
                return PlainTextResponse(f"{line(error)}\n", 409)
            self._library.forget()
        return RedirectResponse("/", 303)

    def confirm(self, request: Request) -> Shown:
        """Return the page that asks to confirm the deletion of a run."""
        run = self._library.run(request.path_params["run"])
        return {
            "crumbs": [(line(run.place.name), f"/runs/{run.place.key}"), ("delete", None)],
            "version": run.version,
            "running": False,
            "name": run.place.name,
            "key": run.place.key,
            "done": run.done,
            "bytes": size_of(run.path),
            "refusal": refusal(self._library.root, run.place),
            "word": request.scope["form_word"],
        }

    def answer(
        self, template: str, make: Callable[[Request], Shown | None], request: Request
    ) -> Response:
        """Render a page with the values of `make`; None answers 304, not modified."""
        nonce, status = request.scope["nonce"], 200
        with self._lock:
            try:
                shown = make(request)
                if shown is None:
                    return Response(status_code=304)
            except KeyError:
                template, status = "wrong.j2", 404
                shown = _wrong("Not found", "There is nothing at this address, or no longer.")
            except HarnessError as error:
                template, status = "wrong.j2", _status(error)
                shown = _wrong("This cannot be shown", str(error))
            page = render(template, nonce=nonce, **shown)
        headers = {"ETag": f'"{shown["version"]}"'}
        return Response(page, status, headers, media_type="text/html")

    def runs(self, request: Request) -> Shown | None:
        """Return the list of runs."""
        version = self._library.version()
        if _is_known(request, version):
            return None
        runs = self._library.listed()
        return {
            "crumbs": [],
            "version": version,
            "running": any(run.running for run in runs),
            "root": line(self._library.root),
            "cut": self._library.listing().cut,
            "runs": runs,
            "experiments": {run.group: key_of(run.group) for run in runs if run.experiment},
            "winners": winners(runs),
        }

    def run(self, request: Request) -> Shown | None:
        """Return a run's figures and a page of its samples."""
        run = self._library.run(request.path_params["run"])
        if _is_known(request, run.version):
            return None
        query, summed = Query.of(request.query_params), sums(run.items.values())
        parent: Any = run.manifest.get("parent")
        return {
            "crumbs": [*_experiment_crumb(run), (_own_name(run), None)],
            "version": run.version,
            "running": run.state.word == "running",
            "state": run.state,
            "key": run.place.key,
            "name": run.place.name,
            "spec": _spec(run),
            "created": created(run.manifest),
            "parent": parent.get("path", "") if isinstance(parent, dict) else parent,  # pyright: ignore[reportUnknownMemberType]
            "planned": run.planned,
            "total": len(run.items),
            "unreadable": run.rows.unreadable,
            "sums": summed,
            "facts": _facts(run),
            "query": query,
            "only": partial(_only, query),
            "page": page_of(select(run.items.values(), query), query.page),
            "columns": {
                **{name: name for name in COLUMNS if name != "released" or summed.dated},
                **{fact.key: fact.name for fact in sample_facts()},
            },
            "numbers": {"tests", *(fact.key for fact in sample_facts())},
            "sample_facts": list(sample_facts()),
        }

    def _found(self, request: Request) -> tuple[OpenRun, Item]:
        run = self._library.run(request.path_params["run"])
        return run, run.items[request.path_params["sample"]]

    def sample(self, request: Request) -> Shown | None:
        """Return a sample's conversation, or a page of it."""
        run, item = self._found(request)
        problem = ""
        try:
            talk = self._library.talk(run, item)
        except RunDirectoryError as error:
            talk, problem = None, str(error)
        running = item.row is None and is_under_way(run.path)
        version = key_of(repr((talk and talk.tape.changes, item, running)))
        if _is_known(request, version):
            return None
        whole = run.rows.whole(item.sample) if item.row else None
        pages = talk.entries.pages if talk else 1
        number = page_number(request.query_params.get("part", "1"), pages)
        query = Query.of(request.query_params)
        base = _address(run, item)
        return {
            "crumbs": [
                *_experiment_crumb(run),
                (_own_name(run), f"/runs/{run.place.key}{query.at(1)}"),
                (line(item.title), None),
            ],
            "version": version,
            "running": running,
            "base": base,
            "item": item,
            "row": item.row,
            "sample_facts": list(sample_facts()),
            "tags": (item.row.tags if item.row else ())[:20],
            "whole": whole,
            "strip": strip_of(whole.efficiency) if whole else None,
            "problem": problem,
            "command": transcript_command(run.path, item.sample),
            "number": number,
            "pages": pages,
            "address": partial(_part, base, query),
            "at_turn": partial(_at_turn, base, query, talk),
            **_conversation(run, talk, number, whole, running=running),
            **_final(whole, base, language_of(run.spec)),
            **_around(run, item, query),
            "elsewhere": self._library.elsewhere(run, item),
            "key": run.place.key,
        }

    def text(self, request: Request) -> Shown | None:
        """Return a page of a long text of a transcript."""
        run, item = self._found(request)
        name, number = request.path_params["name"], request.path_params["line"]
        text = self._whole_text(run, item, number, name)
        pages = max(1, -(-len(text) // PAGE))
        page = page_number(request.query_params.get("page", "1"), pages)
        start = (page - 1) * PAGE
        base = _address(run, item)
        version = key_of(f"{len(text)} {start}")
        if _is_known(request, version):
            return None
        return {
            "crumbs": [
                *_experiment_crumb(run),
                (_own_name(run), f"/runs/{run.place.key}"),
                (line(item.title), base),
                ("text", None),
            ],
            "version": version,
            "running": False,
            "title": f"{item.title}: {name.replace('-', ' ')}"
            + (f", line {number}" * bool(number)),
            "start": start,
            "end": min(start + PAGE, len(text)),
            "size": len(text),
            "number": page,
            "pages": pages,
            "address": lambda page: f"{base}/lines/{number}/{name}?page={page}",  # pyright: ignore[reportUnknownLambdaType]
            "shown": printable(text[start : start + PAGE]),
        }

    def _whole_text(self, run: OpenRun, item: Item, number: int, name: str) -> str:
        if number == 0 and name == "solution":
            return run.rows.whole(item.sample).code
        tape = self._library.talk(run, item).tape
        where = tape.line(number)
        event = tape.event(where) if where else None
        text = text_in(event, name) if event else None
        if text is None:
            raise KeyError(name)
        return text


def _status(error: HarnessError) -> int:
    """Return the status of a page that cannot be made: 409 for a run that cannot be read."""
    if isinstance(error, StorageError):
        return 500
    return 409 if isinstance(error, RunDirectoryError | DataError) else 400


def _wrong(title: str, message: str) -> Shown:
    return {
        "crumbs": [(title, None)],
        "version": "",
        "running": False,
        "title": title,
        "message": message,
    }


def _is_known(request: Request, version: str) -> bool:
    return request.headers.get("if-none-match") == f'"{version}"'


def _spec(run: OpenRun) -> Shown:
    """Return the settings shown in a page's head, and what to do about answers cut off."""
    now = run.spec.get("max_tokens") or "the provider's own"
    return {
        "model": str(run.spec.get("model", "")),
        "mode": str(run.spec.get("mode", "")),
        "prompt": str(run.manifest["prompt"].get("name", "")),
        "more_tokens": "" if is_replay(run.manifest) else f"; raise --max-tokens (now {now})",
    }


def _facts(run: OpenRun) -> list[tuple[str, str]]:
    """Return the facts of a run that has ended, by name."""
    summary = run.summary
    rows = table_rows([summary], Screen.PAGES) if summary else ()
    return [(name, cell) for name, (cell,) in rows]


def _experiment_crumb(run: OpenRun) -> list[tuple[str, str]]:
    """Return the link to the run's experiment; empty if it is not a variant of one."""
    group = run.place.group
    return [(line(group), f"/experiments/{key_of(group)}")] if run.place.experiment else []


def _own_name(run: OpenRun) -> str:
    return line(run.place.path.name if run.place.experiment else run.place.name)


def _address(run: OpenRun, item: Item) -> str:
    return f"/runs/{run.place.key}/samples/{item.key}"


def _only(query: Query, state: str) -> str:
    """Return the URL that filters by a state, or that removes this filter."""
    return Query(state="" if query.state == state else state).at(1)


def _part(base: str, query: Query, part: int) -> str:
    words = url_words({**query.words, "part": part})
    return f"{base}?{words}" if words else base


def _at_turn(base: str, query: Query, talk: Talk | None, turn: int) -> str:
    place = talk.entries.turns.get(turn) if talk else None
    if talk is None or place is None:
        return base
    return f"{_part(base, query, talk.entries.page_of(place))}#turn-{turn}"


def _conversation(
    run: OpenRun, talk: Talk | None, number: int, whole: SampleResult | None, *, running: bool
) -> Shown:
    if talk is None or not talk.there:
        return {"blocks": [], "graded_above": False}
    language, steps = language_of(run.spec), whole.steps if whole else ()
    blocks = Blocks(talk.tape, run.price, running=running, language=language, steps=steps)
    graded = any(entry.kind == "grade" for entry in talk.entries.all[-2 * PER_PAGE :])
    shown = [blocks.of(entry) for entry in talk.entries.page(number)]
    return {"blocks": shown, "graded_above": graded}


def _final(whole: SampleResult | None, base: str, language: str) -> Shown:
    code = whole.code if whole else ""
    return {
        "final_code": coloured(code[:LONGEST_CODE], language) if code else Markup(""),
        "final_left": max(0, len(code) - LONGEST_CODE),
        "final_link": f"{base}/lines/0/solution",
    }


def _around(run: OpenRun, item: Item, query: Query) -> Shown:
    """Return links to the samples before and after, in the order of the user's list."""
    chosen = select(run.items.values(), query)
    place = next((at for at, each in enumerate(chosen) if each.key == item.key), -1)
    before, after = (
        each and _part(_address(run, each), query, 1) for each in neighbours(chosen, place)
    )
    return {"before": before, "after": after, "place": place + 1, "of": len(chosen)}
