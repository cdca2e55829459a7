"""Draws docs/spend.svg: what the agent loop and single shots solve, by spend.

harness run --agentic-mode --out agentic && harness run -k 6 --out single
python tests/real_model/spend_chart.py single agentic
"""

import argparse
from pathlib import Path

from harness.features.compare.spend import spend_comparison
from harness.features.report.answer_charts import equal_spend
from harness.features.report.charts import PALETTE
from harness.run.summary.loaded_run import read_run

CHART = Path(__file__).parents[2] / "docs" / "spend.svg"
NAMES = ("single shots", "agent loop")
WIDTH = 560


def main() -> None:
    import vl_convert

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("single", type=Path, help="run of single shots")
    parser.add_argument("agentic", type=Path, help="run of the agent loop")
    parser.add_argument("--to", type=Path, default=CHART, help="the file that is written")
    given = parser.parse_args()
    spend = spend_comparison(read_run(given.single), read_run(given.agentic))
    colours = (PALETTE[1], PALETTE[0])
    chart = equal_spend(spend, NAMES, colours, "Solved, by tokens a problem") | {
        "width": WIDTH,
        "background": "white",
    }
    given.to.write_text(vl_convert.vegalite_to_svg(chart))


if __name__ == "__main__":
    main()
