"""`harness run --batch --language cpp`."""

import asyncio
import json
from pathlib import Path

import pytest
from batch_server import OpenAIBatchServer
from chat_server import Json, Reply, completion
from json_lines import json_lines
from own_problems import ECHO
from program import harness_after, results

from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

RIGHT = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"
WRONG = "int main() {}\n"
ELSEWHERE = """
from harness.models import providers
def moved(provider):
    return provider._replace(base_url={url!r})
providers.PROVIDERS = tuple(map(moved, providers.PROVIDERS))
"""


async def test_a_batch_asks_for_cpp_and_its_answers_are_compiled(tmp_path: Path) -> None:
    rows = [{**ECHO, "id": name} for name in ("right", "wrong")]
    (tmp_path / "own.jsonl").write_text(json_lines(rows))
    codes = iter([RIGHT, WRONG])

    def script(body: Json, _number: int) -> Reply:
        assert "C++20" in json.dumps(body)
        assert "Python" not in json.dumps(body)
        text = f"```cpp\n{next(codes)}```"
        return completion(text, usage={"prompt_tokens": 7, "completion_tokens": 3})

    flags = ("-b", "jsonl:own.jsonl", "-m", "openai-chat/gpt-made", "--language", "cpp", "--batch")
    async with OpenAIBatchServer(script) as server:
        done = await asyncio.to_thread(
            harness_after,
            ELSEWHERE.format(url=server.base_url),
            tmp_path,
            *("run", *flags, "--out", "r"),
            OPENAI_API_KEY="sk-made",
        )
    assert done.returncode == 0, done.stderr
    assert len(server.batches) == 1
    verdicts = sorted(each["verdict"] for each in results(tmp_path / "r"))
    assert verdicts == ["accepted", "wrong_answer"]
