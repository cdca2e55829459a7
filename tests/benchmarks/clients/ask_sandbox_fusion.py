"""The `sandbox-fusion` package, unchanged, against the address that is given."""

import asyncio
import base64
import json
import sys
from typing import Any

import sandbox_fusion as sf

address = sys.argv[1]
sf.set_endpoint(address)
found = {}


def ask(name: str, code: str, **more: Any) -> Any:
    request = sf.RunCodeRequest(code=code, language="python", **more)
    result = sf.run_code(request, max_attempts=1)
    mapping = sf.SummaryMapping(RunFailed="RunFailed", RunTimeout="RunTimeout")
    summary = sf.summary_run_code_result(result, mapping)
    found[name] = [summary, result.run_result.return_code, result.run_result.stdout]
    return result


ask("right", "print(input()[::-1])", stdin="abc")
ask("raises", "1/0")
ask("exit", "import sys; sys.exit(3)")
ask("time", "while True: pass", run_timeout=1)
encoded = base64.b64encode(b"x = 41").decode()
code = "import h; open('out.txt', 'w').write(str(h.x + 1))"
result = ask("files", code, files={"h.py": encoded}, fetch_files=["out.txt"])
found["fetched"] = base64.b64decode(result.files["out.txt"]).decode()


async def many() -> list[int]:
    requests = [sf.RunCodeRequest(code=f"print({n})", language="python") for n in range(50)]
    done = await asyncio.gather(*(sf.run_code_async(request) for request in requests))
    return [int(each.run_result.stdout) for each in done]


found["asynchronous"] = asyncio.run(many()) == list(range(50))
found["cpp"] = []
for code in ("int main() { return 3; }", "int main() { return x; }"):
    request = sf.RunCodeRequest(code=code, language="cpp", compile_timeout=20)
    result = sf.run_code(request, max_attempts=1)
    compiled, run = result.compile_result, result.run_result
    found["cpp"] += [compiled.return_code, None if run is None else run.return_code]
print(json.dumps(found))
