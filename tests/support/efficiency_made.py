"""Solutions timed by hand, for tests of what is told of them."""

from collections.abc import Sequence

from harness.efficiency.scale import Efficiency, ReferenceTime, Scale, Timing

PLAIN = (1.0, 2.0, 3.0, 5.0)


def made_scale(
    times: Sequence[float] = PLAIN,
    *,
    timing: Timing = "paired",
    doubt: float = 0.001,
    branches: bool = True,
    unit_s: float = 1e-6,
) -> Scale:
    """A scale of references that take these times, the fastest first, and ten branches a unit."""
    return Scale(
        timing=timing,
        unit_s=unit_s,
        references=tuple(
            ReferenceTime(
                code_hash=str(place),
                time=time,
                doubt=doubt,
                branches=round(10 * time) if branches else None,
            )
            for place, time in enumerate(times)
        ),
    )


def made_efficiency(
    time: float | None,
    scale: Scale | None = None,
    *,
    doubt: float = 0.01,
    remark: str = "",
) -> Efficiency:
    """A solution that takes this time, in the scale's unit; None for one that failed."""
    scale = made_scale() if scale is None else scale
    if time is None:
        return Efficiency.of_failure(scale, remark)
    return Efficiency.of(
        scale,
        time,
        time * (1 - doubt),
        time * (1 + doubt),
        doubt,
        cpu_s=time * scale.unit_s,
        pairs=16,
        branches=round(10 * time),
        remark=remark,
    )
