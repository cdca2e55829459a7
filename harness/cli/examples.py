"""Two examples for the help of each command."""

from collections.abc import Mapping
from types import MappingProxyType

EXAMPLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": ("harness run --agentic-mode", "harness compare RUN_A RUN_B"),
        "run": (
            "harness run --agentic-mode --out demo",
            "harness run -m gpt-5-mini -b livecodebench:v6 --agentic-mode --max-cost 5",
        ),
        "experiment": (
            "harness experiment -m gpt-5-mini -b livecodebench:v6 -n 50 --max-cost 5",
            "harness experiment -c grid.yaml --dry-run",
        ),
        "mcp": (
            "harness mcp --task fixture/tally-board",
            "harness mcp --task two-sum -b leetcode --http 8080",
        ),
        "models": ("harness models", "harness models gpt-5-mini --reasoning-effort low --json"),
        "prompts": ("harness prompts list", "harness prompts check ./my-prompts"),
        "prompts list": ("harness prompts list", "harness prompts list --json"),
        "prompts show": (
            "harness prompts show default",
            "harness prompts show direct --mode agentic",
        ),
        "prompts render": (
            "harness prompts render default tally-board",
            "harness prompts render direct two-sum --mode agentic -b leetcode",
        ),
        "prompts check": (
            "harness prompts check ./my-prompts",
            "harness prompts check ./my-prompts --mode agentic",
        ),
        "prompts copy": (
            "harness prompts copy default ./my-prompts",
            "harness prompts copy direct ./brief",
        ),
        "prompts diff": (
            "harness prompts diff default direct",
            "harness prompts diff default ./my-prompts",
        ),
        "compare": (
            "harness compare runs/single runs/agentic",
            "harness compare runs/single runs/agentic --fail-if-worse --markdown",
        ),
        "show": ("harness show runs/agentic", "harness show runs/agentic --only unsolved"),
        "ls": ("harness ls", "harness ls runs --trend"),
        "transcript": (
            "harness transcript runs/agentic",
            "harness transcript runs/agentic tally-board",
        ),
        "report": (
            "harness report runs/single runs/agentic -o report.html",
            "harness report runs/agentic --cutoff 2025-04",
        ),
        "view": ("harness view", "harness view runs --port 8001"),
        "export": (
            "harness export runs/agentic --to csv",
            "harness export runs/agentic --to parquet --out samples.parquet",
        ),
        "problems": (
            "harness problems -b livecodebench:v6 --filter-difficulty hard",
            "harness problems tally-board",
        ),
        "fetch": ("harness fetch livecodebench:v6", "harness fetch mercury --update"),
        "verify": ("harness verify fixture", "harness verify mercury -n 20"),
        "calibrate": ("harness calibrate fixture", "harness calibrate mercury -n 20"),
        "grade": (
            "harness grade -b livecodebench:v6 --solutions mine.jsonl",
            "harness grade -b fixture --solutions mine.jsonl --efficiency --json",
        ),
        "regrade": (
            "harness regrade runs/agentic --rule tokens",
            "harness regrade runs/agentic --test-timeout 10 -o runs/slower",
        ),
        "import": (
            "harness import model_eval_all.json -b livecodebench:v6 -o runs/published",
            "harness import mine.jsonl -b fixture -o runs/mine --model my-model",
        ),
        "serve": ("harness serve", "harness serve -b livecodebench:v6 --port 8081 --workers 8"),
        "doctor": ("harness doctor", "harness doctor --require-isolation namespaces --json"),
        "merge": (
            "harness merge runs/1 runs/2 runs/3 -o runs/whole",
            "harness merge shards/* -o runs/whole",
        ),
        "pack": ("harness pack runs/agentic", "harness pack runs/agentic --undo"),
        "schema": ("harness schema result", "harness schema spec > spec.schema.json"),
        "plugins": ("harness plugins",),
    }
)
