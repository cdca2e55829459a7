"""Small instances of problems with several answers, solved by brute force.

Each generator yields inputs with the correct ones among the tried answers.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise, permutations, product
from math import prod
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Instance(NamedTuple):
    """A test's input, and answers to it.

    Attributes:
        given: the input.
        right: the correct ones among `tried`; if there are none, `otherwise` is correct.
        tried: the answers tried.
    """

    given: str
    right: set[str]
    tried: set[str]
    otherwise: str = ""


def spaced(numbers: Iterable[object]) -> str:
    return " ".join(map(str, numbers))


def lines(*rows: Iterable[object]) -> str:
    return "\n".join(map(spaced, rows))


def sampled(everything: Iterable[T], most: int) -> list[T]:
    listed = [*everything]
    return random.sample(listed, min(len(listed), most))


def reading_orders() -> Iterator[Instance]:
    for count in (2, 3, 4, 5):
        books = range(1, count + 1)
        tried = {spaced(each) for n in range(count + 1) for each in permutations(books, n)}
        tried |= {spaced(each) for each in product(range(count + 2), repeat=min(count - 1, 3))}
        for _ in range(20):
            ranks = random.sample(books, count)
            needs = {
                book: [each for each in books if ranks[each - 1] < ranks[book - 1]]
                for book in books
            }
            needs = {
                book: [b for b in each if random.random() < 0.5] for book, each in needs.items()
            }
            if needs[1]:
                orders = [
                    order
                    for size in range(count)
                    for order in permutations(range(2, count + 1), size)
                    if all(
                        set(needs[book]) <= set(order[:at]) for at, book in enumerate([*order, 1])
                    )
                ]
                right = {spaced(each) for each in orders if len(each) == min(map(len, orders))}
                given = lines([count], *([len(needs[b]), *needs[b]] for b in books))
                yield Instance(f"{given}\n", right, tried)


def xor_graphs() -> Iterator[Instance]:
    for count in (1, 2, 3, 4):
        edges = [*combinations(range(count), 2)]
        tried = {f"Yes\n{spaced(each)}" for each in product(range(5), repeat=count)}
        tried |= {f"Yes\n{spaced(each)}" for each in product((1, 2**60 - 1, 2**60), repeat=count)}
        for number in range(2 ** len(edges)):
            chosen = [edge for at, edge in enumerate(edges) if number >> at & 1]
            right = {text for text in tried if _all_zero(text, chosen, count)}
            given = lines([count, len(chosen)], *((a + 1, b + 1) for a, b in chosen))
            yield Instance(f"{given}\n", right, tried, "No")


def _all_zero(text: str, edges: list[tuple[int, int]], count: int) -> bool:
    numbers = [int(word) for word in text.split()[1:]]
    for vertex in range(count):
        total = 0
        for edge in edges:
            if vertex in edge:
                total ^= numbers[sum(edge) - vertex]
        if total:
            return False
    return all(1 <= number <= 2**60 - 1 for number in numbers)


def testimonies() -> Iterator[Instance]:
    for count in (2, 3, 4):
        pairs = [*permutations(range(count), 2)]
        tried = {
            "".join(each) for n in (count - 1, count, count + 1) for each in product("01", repeat=n)
        }
        tried |= {"2" * count, "-1" * count}
        for _ in range(25):
            claims = [(a, b, random.randint(0, 1)) for a, b in pairs if random.random() < 0.6]
            right = {
                text
                for text in tried
                if len(text) == count
                and {*text} <= {*"01"}
                and any(_tell(text, liars, claims) for liars in product((0, 1), repeat=count))
            }
            given = lines([count, len(claims)], *((a + 1, b + 1, c) for a, b, c in claims))
            yield Instance(given, right, tried, "-1")


def _tell(confused: str, liars: Sequence[int], claims: list[tuple[int, int, int]]) -> bool:
    for a, b, word in claims:
        lies = bool(liars[a]) != (confused[a] == "1")
        truth = liars[b]
        if word != (1 - truth if lies else truth):
            return False
    return True


def xor_sequences() -> Iterator[Instance]:
    for count in (1, 2, 3, 4):
        tried = {spaced(each) for each in product(range(-1, 5), repeat=count)}
        everything = [*product(range(4), repeat=count)]
        for size in (0, 1, 2, 3, 4) * 6:
            ends = [random.choices(range(count), k=2) for _ in range(size)]
            hidden = random.choice(everything)
            rows = [(a, b, hidden[a] ^ hidden[b] ^ (random.random() < 0.05 and 1)) for a, b in ends]
            good = [a for a in everything if all(a[x] ^ a[y] == z for x, y, z in rows)]
            least = min(map(sum, good), default=0)
            right = {spaced(each) for each in good if sum(each) == least}
            given = lines([count, size], *((x + 1, y + 1, z) for x, y, z in rows))
            yield Instance(given, right, tried, "-1")


def matched_trees() -> Iterator[Instance]:
    """Trees with a perfect matching: all orders up to 6 vertices, some of 8 to 12."""
    for count in (2, 4, 6) * 2:
        edges = _matched_tree(count)
        orders = [*permutations(range(count))]
        right = {_removals(order) for order in orders if _worth(edges, order) == _best(edges)}
        tried = {_removals(order) for order in orders} | {_removals(orders[0][:-1])}
        yield Instance(_tree_text(edges, count), right, tried)
    for count in (8, 8, 10, 12) * 2:
        edges = _matched_tree(count)
        orders = [_procedure(edges, random.random()) for _ in range(25)]
        orders.append(_procedure(edges, 0))
        for order in [*orders]:
            a, b = random.sample(range(count), 2)
            swapped = [*order]
            swapped[a], swapped[b] = order[b], order[a]
            orders.append(tuple(swapped))
        right = {_removals(order) for order in orders if _worth(edges, order) == _best(edges)}
        yield Instance(_tree_text(edges, count), right, {_removals(each) for each in orders})
    for count in (14, 18, 22) * 3:
        edges = _matched_tree(count)
        far, root = min((_distances(edges, vertex), vertex) for vertex in range(count))
        orders = [_through(edges, root, count, slip) for slip in (0, 0.1) * 8]
        right = {_removals(order) for order in orders if _worth(edges, order) == far}
        if right:  # possibly none of them is the best
            yield Instance(_tree_text(edges, count), right, {_removals(each) for each in orders})


def _distances(edges: "_Edges", start: int) -> int:
    return sum(_distance(edges, start, vertex) for vertex in {v for edge in edges for v in edge})


def _through(edges: "_Edges", root: int, count: int, slip: float) -> tuple[int, ...]:
    """Return an order of removing pairs, on paths through the root if possible."""
    order: list[int] = []
    while len(edges) > 1:
        ends = [vertex for edge in edges for vertex in edge]
        leaves = [vertex for vertex in {*ends} - {root} if ends.count(vertex) == 1]
        if len(leaves) < 2:
            break
        moves = [] if random.random() < slip else [sorted(pair) for pair, _, _ in _moves(edges)]
        pairs = moves or [[*pair] for pair in combinations(leaves, 2)]
        far = {vertex: _distance(edges, root, vertex) for vertex in leaves}
        good = [
            (a, b)
            for a, b in pairs
            if root not in (a, b) and _distance(edges, a, b) == far[a] + far[b]
        ]
        pair = random.choice(good or [*combinations(leaves, 2)])
        order += random.sample(pair, 2)
        edges = frozenset(edge for edge in edges if not {*edge} & {*pair})
    left = {*range(count)} - {*order}
    return (*order, *random.sample(sorted(left), len(left)))


_Edges = frozenset[tuple[int, int]]


def _matched_tree(count: int) -> _Edges:
    edges = {(at, at + 1) for at in range(0, count, 2)}
    for at in range(2, count, 2):
        ends = random.choice((at, at + 1)), random.choice((random.randrange(at), at - 1))
        edges.add((min(ends), max(ends)))
    return frozenset(edges)


def _tree_text(edges: _Edges, count: int) -> str:
    first = [(at, at + 1) for at in range(0, count, 2)]
    rest = random.sample(sorted(edges - {*first}), len(edges) - len(first))
    return lines([count], *((a + 1, b + 1) for a, b in [*first, *rest])) + "\n"


def _removals(order: Sequence[int]) -> str:
    numbers = [vertex + 1 for vertex in order]
    return "\n".join(spaced(numbers[at : at + 2]) for at in range(0, len(numbers), 2))


@cache
def _best(edges: _Edges) -> int:
    if not edges:
        return 0
    moves = _moves(edges)
    return max(score + _best(left) for _, score, left in moves)


def _worth(edges: _Edges, order: Sequence[int]) -> int:
    """Return the total of a procedure; -1 if it breaks a rule."""
    total = 0
    for at in range(0, len(order), 2):
        moves = [each for each in _moves(edges) if each[0] == {*order[at : at + 2]}]
        if not moves:
            return -1
        total += moves[0][1]
        edges = moves[0][2]
    return total


def _procedure(edges: _Edges, luck: float) -> tuple[int, ...]:
    """Return a random procedure; the lower `luck`, the more of its steps are best."""
    order: list[int] = []
    while edges:
        moves = _moves(edges)
        best = max(score + _best(left) for _, score, left in moves)
        good = [each for each in moves if each[1] + _best(each[2]) == best]
        pair, _, edges = random.choice(moves if random.random() < luck else good)
        order += random.sample(sorted(pair), 2)
    return tuple(order)


@cache
def _moves(edges: _Edges) -> list[tuple[set[int], int, _Edges]]:
    """Return removable pairs of leaves, with their distances and the remaining tree."""
    if len(edges) == 1:
        (edge,) = edges
        return [({*edge}, 1, frozenset())]
    ends = [vertex for edge in edges for vertex in edge]
    leaves = [vertex for vertex in {*ends} if ends.count(vertex) == 1]
    moves: list[tuple[set[int], int, _Edges]] = []
    for pair in combinations(leaves, 2):
        left = frozenset(edge for edge in edges if not {*edge} & {*pair})
        if _is_matched(left, len({*ends}) - 2):
            moves.append(({*pair}, _distance(edges, *pair), left))
    return moves


def _is_matched(edges: _Edges, count: int) -> bool:
    """Whether there is a perfect matching."""
    if count == 0:
        return True
    ends = [vertex for edge in edges for vertex in edge]
    leaf = next((vertex for vertex in ends if ends.count(vertex) == 1), None)
    if leaf is None:
        return False
    (edge,) = (each for each in edges if leaf in each)
    return _is_matched(frozenset(e for e in edges if not {*e} & {*edge}), count - 2)


def _distance(edges: _Edges, start: int, end: int) -> int:
    seen, far = {start}, 0
    while end not in seen:
        seen |= {vertex for edge in edges if {*edge} & seen for vertex in edge}
        far += 1
    return far


def spirals() -> Iterator[Instance]:
    grids: dict[str, bool] = {}
    for numbers in permutations(range(1, 9)):
        cells = [*numbers[:4], "T", *numbers[4:]]
        steps = pairwise(divmod(cells.index(number), 3) for number in range(1, 9))
        text = lines(cells[:3], cells[3:6], cells[6:])
        grids[text] = all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in steps)
    right = {text for text, is_right in grids.items() if is_right}
    wrong = random.sample(sorted({*grids} - right), 2000)
    other = {text.replace(a, b) for text in right for a, b in (("8", "9"), ("T", "5"), ("T", "0"))}
    moved = {text.translate(str.maketrans("T1", "1T")) for text in right}
    yield from [Instance("3\n", right, {*right, *wrong, *other, *moved})] * 6


def formulas() -> Iterator[Instance]:
    letters = "012*"
    tried = {"".join(each) for n in range(1, 6) for each in product(letters, repeat=n)}
    tried |= {text for n in range(1000) for text in map(str, (n,))} | {"1" * 1001, "1*" * 500 + "1"}
    tried |= {"1" + "*1" * 499, "2*2*", "*2", "2**2"}
    values = {
        text: prod(map(int, text.split("*")))
        for text in tried
        if re.fullmatch(r"[1-9]+(\*[1-9]+)*", text) and text == text[::-1] and len(text) <= 1000
    }
    for number in [*random.sample(sorted({*values.values()}), 30), 1, 2, 4, 10, 101]:
        right = {text for text, value in values.items() if value == number}
        yield Instance(f"{number}\n", right, tried, "-1")


def point_sets() -> Iterator[Instance]:
    for count in (1, 2, 3, 4):
        tried = {spaced(each) for each in product(range(count + 2), repeat=count)}
        for _ in range(12):
            points = _in_general_position(2 * count)
            right: set[str] = set()
            for order in permutations(range(count)):
                pairs = [(points[at], points[count + to]) for at, to in enumerate(order)]
                if not any(_meet(*one, *other) for one, other in combinations(pairs, 2)):
                    right.add(spaced(to + 1 for to in order))
            yield Instance(lines([count], *points), right, tried, "-1")


_Point = tuple[int, int]


def _in_general_position(count: int) -> list[_Point]:
    points: list[_Point] = []
    while len(points) < count:
        new = random.randint(0, 12), random.randint(0, 12)
        if new not in points and all(_area(a, b, new) for a, b in combinations(points, 2)):
            points.append(new)
    return points


def _area(a: _Point, b: _Point, c: _Point) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _meet(a: _Point, b: _Point, c: _Point, d: _Point) -> bool:
    """Whether two segments intersect, by computing the lines' intersection."""
    (px, py), (rx, ry) = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    if (slope := px * ry - py * rx) == 0:
        return False
    x, y = c[0] - a[0], c[1] - a[1]
    return 0 <= Fraction(x * ry - y * rx, slope) <= 1 and 0 <= Fraction(x * py - y * px, slope) <= 1


def bit_grids() -> Iterator[Instance]:
    for count, most in ((2, 4), (3, 14)):
        grids = [
            tuple("".join(cells[at : at + count]) for at in range(0, count * count, count))
            for cells in product("01", repeat=count * count)
        ]
        tried = {"\n".join(grid) for grid in grids}
        tried |= {text[:-1] for text in tried} | {text.replace("1", "2") for text in tried}
        asked = product(permutations(range(1, count + 1)), repeat=2)
        for p, q in random.sample([*asked], most):
            right = {
                "\n".join(grid)
                for grid in grids
                if all(grid[a - 1] < grid[b - 1] for a, b in pairwise(p))
                and all(
                    [row[a - 1] for row in grid] < [row[b - 1] for row in grid]
                    for a, b in pairwise(q)
                )
            }
            yield Instance(lines([count], p, q), right, tried)


def cube_pairs() -> Iterator[Instance]:
    tried = {spaced(each) for each in product(range(-3, 16), repeat=2)} | {"12", "12 11 1"}
    for number in [*random.sample(range(1, 500), 40), 7, 19, 26, 37, 61, 721, 1, 3367]:
        right = {
            text
            for text in tried
            if len(text.split()) == 2
            and min(x_y := [int(word) for word in text.split()]) > 0
            and x_y[0] ** 3 - x_y[1] ** 3 == number
        }
        yield Instance(str(number), right, tried, "-1")


def covers() -> Iterator[Instance]:
    spans = {n: [(a, b) for a in range(1, n + 1) for b in range(a, n + 1)] for n in range(1, 7)}
    for count in (1, 2, 3, 4):
        tried = {
            f"{k}\n{spaced(each)}"
            for k in range(-1, 5)
            for each in product(range(-1, 4) if count < 4 else range(3), repeat=count)
        }
        for size in (1, 2, 3, 4, 5, 6) * 4:
            intervals = random.choices(spans[size], k=count)
            costs: dict[str, int] = {}
            for kinds in product(range(3), repeat=count):
                cells: set[int] = set()
                for kind, (left, right) in zip(kinds, intervals, strict=True):
                    inside = {*range(left, right + 1)}
                    cells |= [set[int](), inside, {*range(1, size + 1)} - inside][kind]
                if len(cells) == size:
                    costs[spaced(kinds)] = count - kinds.count(0)
            least = min(costs.values(), default=0)
            good = {f"{cost}\n{kinds}" for kinds, cost in costs.items() if cost == least}
            yield Instance(lines([size, count], *intervals), good, tried, "-1")


def orders_of_powers() -> Iterator[Instance]:
    pairs = [*product(range(14), range(31))]
    orders = {pair: _order(*pair) for pair in pairs}
    for cases in [[n] for n in range(1, 13)] + [random.choices(range(1, 7), k=2) for _ in range(8)]:
        tried = (
            {spaced(pair) for pair in pairs}
            if len(cases) == 1
            else {lines(*random.choices(pairs, k=2)) for _ in range(300)}
            | {lines(*(random.choice([p for p in pairs if orders[p] == n]) for n in cases))}
        )
        tried |= {text[:-1] for text in tried if text[-2:-1].isdigit()}
        right = {text for text in tried if [*map(_order_of, text.split("\n"))] == cases}
        yield Instance(lines([len(cases)], *([n] for n in cases)), right, tried)


def _order_of(line: str) -> int:
    base, modulus = map(int, line.split())
    return _order(base, modulus)


def _order(base: int, modulus: int) -> int:
    if base < 1 or modulus < 1:
        return 0
    return next((n for n in range(1, 40) if (base**n - 1) % modulus == 0), 0)


def circles_of_pieces() -> Iterator[Instance]:
    for total in (2, 3, 4):
        walks = _walks(total)
        tried = {_pieces(walk) for walk in walks}
        for red in range(total + 1):
            right = {
                _pieces(walk)
                for walk in walks
                if sum(kind == "R" for kind, _, _ in walk) == red and _closes(walk)
            }
            yield Instance(lines([1], [red, total - red]), right, tried, "No")


_Piece = tuple[str, int, int]


def _walks(total: int) -> list[tuple[_Piece, ...]]:
    if total < 4:
        cells = [*product(range(1, 4), range(1, 3))]
        return [
            tuple((kind, *cell) for kind, cell in zip(kinds, places, strict=True))
            for kinds in product("RB", repeat=total)
            for places in product(cells, repeat=total)
        ]
    walks: list[tuple[_Piece, ...]] = []
    for _ in range(4000):
        walk: list[_Piece] = [(random.choice("RB"), 10**9 - 1, 2)]
        while len(walk) < total:
            kind, r, c = walk[-1]
            far = random.choice((-1, 1)), random.choice((-1, 1))
            step = far if kind == "B" else random.choice(((far[0], 0), (0, far[1])))
            walk.append((random.choice("RB"), r + step[0], c + step[1]))
        walks.append(tuple(walk))
    return walks


def _closes(walk: Sequence[_Piece]) -> bool:
    places = [place for _, *place in walk]
    inside = all(1 <= coordinate <= 10**9 for coordinate in chain(*places))
    apart = len({*map(tuple, places)}) == len(walk)
    moves = {"R": [{0, 1}], "B": [{1}]}
    steps = zip(walk, [*walk[1:], walk[0]], strict=True)
    return (
        inside
        and apart
        and all({abs(r - s), abs(c - d)} in moves[k] for (k, r, c), (_, s, d) in steps)
    )


def _pieces(walk: Sequence[_Piece]) -> str:
    return "Yes\n" + lines(*walk)


INSTANCES = {
    "reading_order": reading_orders,
    "xor_of_neighbours": xor_graphs,
    "confused_villagers": testimonies,
    "least_xor_sequence": xor_sequences,
    "farthest_leaves": matched_trees,
    "spiral": spirals,
    "palindromic_formula": formulas,
    "segments_that_do_not_cross": point_sets,
    "ordered_rows_and_columns": bit_grids,
    "difference_of_cubes": cube_pairs,
    "cheapest_cover": covers,
    "order_of_a_power": orders_of_powers,
    "closed_walk_of_pieces": circles_of_pieces,
}
"""Instances by checker name."""
