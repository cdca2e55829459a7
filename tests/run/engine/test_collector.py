"""The garbage collector while a run is read."""

import gc

from for_each import for_each

from harness.run.store.results import uncollected


@for_each("enabled", [True, False])
def test_the_collector_is_as_before_after_a_read(*, enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with uncollected():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
