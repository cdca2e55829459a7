from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache, lru_cache, reduce
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

T = TypeVar("T")


class Kind(Enum):
    ODD = auto()
    EVEN = auto()


@dataclass(slots=True, kw_only=True)
class Box(Generic[T]):
    value: T
    kinds: list[Kind] = field(default_factory=list)

    def with_kind(self) -> Self:
        match self.value:
            case int(v) if v % 2:
                self.kinds.append(Kind.ODD)
            case _:
                self.kinds.append(Kind.EVEN)
        return self


@lru_cache(maxsize=None)
def double(n: int, /, *, times: int = 2) -> int:
    return reduce(lambda a, b: a + b, [n] * times)


try:
    raise ExceptionGroup("all", [ValueError(1), KeyError(2)])
except* ValueError:
    pass
except* KeyError:
    pass
if (n := int(input())) and Box(value=n).with_kind().kinds:
    print(f"{double(n)!s:>5}")
