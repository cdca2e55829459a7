"""A checker of programs that take a tree apart, two leaves at a time."""

from collections.abc import Sequence

from harness.kinds.checkers.by_problem.layout import integers, lines_of


def farthest_leaves(given: str, _expected: str, answer: str) -> bool:
    """arc183_d: remove two leaves at a time, always leave a perfect matching, walk the farthest.

    The greatest total is the sum of all distances from the centroid, and a total is that great
    exactly when every path goes through the centroid. So each pair must come from two branches of
    the centroid, and the centroid itself goes last.
    """
    count, *ends = map(int, given.split())
    lines = lines_of(answer, count // 2)
    pairs = [integers(line, 2) for line in lines] if len(lines) == count // 2 else [None]
    order = [vertex - 1 for pair in pairs if pair is not None for vertex in pair]
    if len(order) != count or set(order) != {*range(count)}:
        return False
    tree = _CentroidTree(count, [end - 1 for end in ends])
    return all(
        tree.remove(order[at], order[at + 1], last=at + 2 == count) for at in range(0, count, 2)
    )


class _CentroidTree:
    """What is left of a tree, with the centroid for its root.

    An edge is in the perfect matching if it cuts off an odd number of vertices, so at most one
    branch below a vertex is odd at any time; of the root's, exactly one. Removing a leaf changes
    the parity of each branch up to the root. That is allowed where odd and even alternate on the
    whole way up, which is where all of the way has one `colour`: parity plus depth, modulo 2.

    Ways up are too long to walk, so the tree is cut into chains, each vertex and its largest branch
    being in one chain. The colour changes along a chain only below a vertex whose odd branch is not
    on the chain: such a vertex is locked by that branch. `locks` has a chain's locked vertices, the
    highest one last, and `colour` what the part above the highest has.
    """

    def __init__(self, count: int, ends: Sequence[int]) -> None:
        around: list[list[int]] = [[] for _ in range(count)]
        for a, b in zip(ends[::2], ends[1::2], strict=True):
            around[a].append(b)
            around[b].append(a)
        self.root = _centroid(around)
        self.parent, order = _rooted(around, self.root)
        self.left = [len(each) for each in around]  # edges to what is left
        depth = [0] * count
        for vertex in order[1:]:
            depth[vertex] = depth[self.parent[vertex]] + 1
        size = [1] * count
        for vertex in reversed(order[1:]):
            size[self.parent[vertex]] += size[vertex]
        self.depth = depth
        self.top = [*range(count)]
        self.locks: list[list[int]] = [[] for _ in range(count)]
        self.colour = [(size[vertex] + depth[vertex]) % 2 for vertex in range(count)]
        for vertex in order:
            below = [each for each in around[vertex] if each != self.parent[vertex]]
            odd = [each for each in below if size[each] % 2]
            if vertex == self.root:
                self.odd = odd[0]
            elif below:
                largest = max(below, key=size.__getitem__)
                self.top[largest] = self.top[vertex]
                if odd and odd[0] != largest:
                    self.locks[self.top[vertex]].append(vertex)
        for locks in self.locks:
            locks.reverse()

    def remove(self, one: int, other: int, *, last: bool) -> bool:
        """Remove two leaves; return whether that was allowed and far enough."""
        if last:
            return self.root in {one, other}
        if self.root in {one, other} or self.left[one] != 1 or self.left[other] != 1:
            return False
        branches = self._branch(one), self._branch(other)
        if None in branches or branches[0] == branches[1] or self.odd not in branches:
            return False
        self.odd = sum(each for each in branches if each is not None) - self.odd
        for vertex in (one, other):
            self.left[vertex] = 0
            self.left[self.parent[vertex]] -= 1
        return True

    def _branch(self, leaf: int) -> int | None:
        """The branch of the root that a leaf is on, its way up changed; None where it cannot."""
        colour = self.colour[self.top[leaf]]
        vertex, below = leaf, -1
        while vertex != self.root:
            top = self.top[vertex]
            locks = self.locks[top]
            if self.colour[top] != colour:
                return None
            if locks and self.depth[locks[-1]] < self.depth[vertex]:
                return None
            if locks and locks[-1] == vertex:
                locks.pop()
            elif below >= 0:
                locks.append(vertex)
            self.colour[top] = 1 - colour
            below, vertex = top, self.parent[top]
        return below


def _centroid(around: Sequence[Sequence[int]]) -> int:
    """A vertex none of whose branches has more than half of the vertices."""
    parent, order = _rooted(around, 0)
    size = [1] * len(around)
    for vertex in reversed(order):
        if 2 * size[vertex] >= len(around):
            return vertex
        size[parent[vertex]] += size[vertex]
    raise AssertionError("a tree has a centroid")


def _rooted(around: Sequence[Sequence[int]], root: int) -> tuple[list[int], list[int]]:
    """Each vertex's parent, the root's being the root, and all vertices, parents first."""
    parent = [root] * len(around)
    order = [root]
    for vertex in order:
        for each in around[vertex]:
            if each != parent[vertex]:
                parent[each] = vertex
                order.append(each)
    return parent, order
