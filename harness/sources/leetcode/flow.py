"""Data flow of a module's variables, to tell nodes from numbers.

The module is a data set's reference solution: it is parsed and never executed. The analysis follows
aliases, calls, items of lists and tuples, heaps, comprehensions and returns, in any order.
"""

import ast
from collections.abc import Iterable

from harness.problem import Codec
from harness.python_source import parameters, scoped
from harness.sources.literals import UnreadableError

_MAX_STEPS = 300_000
_MAX_SELECTORS = 4
_MAX_TUPLE = 8
KIND_OF_ATTRIBUTE = {"left": Codec.TREE, "right": Codec.TREE, "next": Codec.LINKED_LIST}
_KIND_OF_CLASS = {"ListNode": Codec.LINKED_LIST, "TreeNode": Codec.TREE, "Node": None}
_SAME_ITEMS = frozenset({"list", "deque", "sorted", "reversed", "iter", "tuple", "set", "filter"})
_GIVES_ITEM = frozenset({"pop", "popleft", "get"})
_TAKES_ITEM = frozenset({"append", "appendleft", "add", "insert"})
_GIVES_NUMBER = frozenset({"sum", "len", "abs", "int", "float"})

Place = tuple[str, ...]
"""Place of a value.

It is a variable, a function's result (`f()`), or a use of a value (`@left`, read of it), followed
by selectors: `[]` for any item, `#1` for that item of a tuple.
"""

ITEM, SUBSCRIPTED, _NUMBER = "[]", ("@[]",), ("@number",)


class Flow:
    """Places that values of a module's variables may reach, in any order.

    A node's neighbour counts as the node itself: it is of the same kind.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.giving: set[ast.FunctionDef] = set()
        self._steps = _MAX_STEPS
        self._targets: dict[Place, set[Place]] = {}
        self._made: dict[Codec | None, set[Place]] = {}
        self._numbers: set[Place] = set()
        self._compared = 0
        self._functions: dict[str, ast.FunctionDef] = {}
        self._owned: dict[ast.FunctionDef, set[str]] = {}
        self._parents: dict[ast.FunctionDef, ast.FunctionDef | None] = {}
        nodes = list(scoped(tree))
        for node, scope in nodes:
            self._own(node, scope)
        self._scope: ast.FunctionDef | None = None  # of the node that is read
        for node, self._scope in nodes:
            self._read(node)

    def variable(self, scope: ast.FunctionDef | None, name: str) -> str:
        """Return the variable that a name denotes inside a function."""
        while scope is not None and name not in self._owned[scope]:
            scope = self._parents[scope]
        return f"{name}@{scope.lineno}:{scope.col_offset}" if scope else name

    def uses(self, place: Place) -> set[Place]:
        """Return the uses of the values in a place."""
        return {reached for reached in self.reached([place]) if reached[0].startswith("@")}

    def nodes(self, kind: Codec | None) -> list[Place]:
        """Return the places of nodes of a kind, made or used as such; of a `Node` for None."""
        uses = {(f"@{name}",) for name, codec in KIND_OF_ATTRIBUTE.items() if codec is kind}
        used = [place for place, targets in self._targets.items() if targets & uses]
        return [*used, *self._made.get(kind, ())]

    def demand_number(self, place: Place) -> None:
        """Check that a place's value is calculated with, or compared with a number.

        Raises:
            UnreadableError: it is not, and may be a node.
        """
        reached = self.reached([place])
        used = [place for place, targets in self._targets.items() if _NUMBER in targets]
        numbers = self.reached([*used, *self._numbers])
        compared = any(each[0].startswith("=") for each in reached & numbers)
        if _NUMBER not in reached and not compared:
            raise UnreadableError("takes what may be a node of another argument")

    def reached(self, places: Iterable[Place]) -> set[Place]:
        """Return the places that values reach.

        Raises:
            UnreadableError: there are too many.
        """
        found = set(places)
        waiting = list(found)
        while waiting:
            place = waiting.pop()
            for end in range(1, len(place) + 1):
                for target in self._targets.get(place[:end], ()):
                    self._steps -= 1
                    if self._steps < 0:
                        raise UnreadableError("too much goes on in it")
                    into = target + place[end:]
                    if len(into) <= _MAX_SELECTORS and into not in found:
                        found.add(into)
                        waiting.append(into)
        return found

    def _own(self, node: ast.AST, scope: ast.FunctionDef | None) -> None:
        match node:
            case ast.FunctionDef(name=name, args=arguments):
                every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                self._functions[name] = node
                self._parents[node] = scope
                self._owned.setdefault(node, set()).update(each.arg for each in every)
            case ast.Name(name, ctx=ast.Store()) if scope is not None:
                self._owned.setdefault(scope, set()).add(name)
            case _:
                pass

    def _read(self, node: ast.AST) -> None:  # noqa: C901, PLR0912 - one case a statement
        scope = self._scope
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                self._bind(target, value)
            case ast.AugAssign(target=target, value=value):
                self._bind(target, value)
                if not isinstance(value, ast.List | ast.Tuple | ast.ListComp | ast.Call):
                    self._flow(target, _NUMBER)
            case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
                self._bind(target, items, (ITEM,))
            case ast.Return(value=ast.expr() as value) | ast.YieldFrom(value) if scope is not None:
                self.giving.add(scope)
                self._flow(value, (f"{scope.name}()",))
            case ast.Yield(value=value) if scope is not None:
                self.giving.add(scope)
                if value is not None:
                    self._flow(value, (f"{scope.name}()", ITEM))
            case ast.Call():
                self._call(node)
            case ast.Attribute(value=value, attr=attribute):
                self._flow(value, (f"@{attribute}",))
            case ast.Subscript(value=value):
                self._flow(value, SUBSCRIPTED)
            case ast.BinOp(left=left, right=right):
                self._flow(left, _NUMBER)
                self._flow(right, _NUMBER)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self._compare(left, operator, right)
            case _:
                pass

    def _compare(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> None:
        self._compared += 1
        both = (f"={self._compared}",)
        select = (ITEM,) if isinstance(operator, ast.In | ast.NotIn) else ()
        self._flow(left, both)
        self._flow(right, both, select)
        if isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            self._flow(left, _NUMBER)
            self._flow(right, _NUMBER)

    def _call(self, call: ast.Call) -> None:
        """Record the flow of a call: arguments into parameters, items into lists."""
        match call:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[*_, item]) if (
                name in _TAKES_ITEM
            ):
                self._put(item, owner, (ITEM,))
            case ast.Call(func=ast.Attribute(value=owner, attr="extend"), args=[items]):
                self._put(items, owner, ())
            case ast.Call(
                func=ast.Name("heappush") | ast.Attribute(attr="heappush"), args=[owner, item]
            ):
                self._put(item, owner, (ITEM,))
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if (
                name in self._functions
            ):
                function = self._functions[name]
                names = parameters(function)
                given = [
                    *zip(names, call.args, strict=False),
                    *((each.arg, each.value) for each in call.keywords if each.arg in names),
                ]
                for parameter, value in given:
                    self._flow(value, (self.variable(function, str(parameter)),))
            case _:
                pass

    def _put(self, value: ast.expr, owner: ast.expr, select: Place) -> None:
        """Let a value flow into an item of a list, possibly nested in other lists."""
        while isinstance(owner, ast.Subscript):
            owner, select = owner.value, (ITEM, *select)
        name = self._named(owner)
        if name is not None and len(select) < _MAX_SELECTORS:
            self._flow(value, (name, *select))

    def _named(self, value: ast.expr) -> str | None:
        match value:
            case ast.Name(name):
                return self.variable(self._scope, name)
            case ast.Attribute(value=ast.Name("self"), attr=name):
                return f"self.{name}"
            case _:
                return None

    def _bind(  # noqa: C901 - one case a target
        self, target: ast.expr, value: ast.expr, select: Place = ()
    ) -> None:
        match target, value:
            case (ast.Tuple(elts=targets) | ast.List(elts=targets), ast.Tuple(elts=values)) if (
                not select and len(targets) == len(values)
            ):
                for one, other in zip(targets, values, strict=True):
                    self._bind(one, other)
            case (ast.Tuple(elts=targets) | ast.List(elts=targets), _):
                if len(select) < _MAX_SELECTORS:
                    for index, one in enumerate(targets[:_MAX_TUPLE]):
                        self._bind(one, value, (*select, f"#{index}"))
                        self._bind(one, value, (*select, ITEM))
            case (ast.Starred(value=rest), _):
                self._bind(rest, value, select[:-1])
            case (ast.Subscript(), _) if not select:
                self._put(value, target, ())
            case (ast.Attribute(value=ast.Name("self"), attr=name), _):
                self._flow(value, (f"self.{name}",), select)
            case (ast.Attribute(value=owner, attr=name), _) if name in KIND_OF_ATTRIBUTE:
                named = self._named(owner)
                if named is not None:
                    self._flow(value, (named,), select)
            case (ast.Name(name), _):
                self._flow(value, (self.variable(self._scope, name),), select)
            case _:
                pass

    def _flow(  # noqa: C901, PLR0912 - one case an expression
        self, value: ast.expr, target: Place, select: Place = ()
    ) -> None:
        """Let an expression's value, or the selected part of it, flow into a place."""
        if max(len(target), len(select)) > _MAX_SELECTORS:
            return
        match value:
            case ast.Name() | ast.Attribute(value=ast.Name("self")):
                name = self._named(value)
                if name is not None:
                    self._targets.setdefault((name, *select), set()).add(target)
            case ast.Attribute(value=owner, attr=name) if name in KIND_OF_ATTRIBUTE:
                self._flow(owner, target, select)
            case (
                ast.Attribute(attr="val")
                | ast.Constant(value=int() | float())
                | ast.BinOp(op=ast.Sub() | ast.Mod() | ast.FloorDiv() | ast.Div())
            ):
                self._numbers.add(target)
            case ast.Subscript(value=owner, slice=ast.Slice()) | ast.NamedExpr(value=owner):
                self._flow(owner, target, select)
            case ast.Subscript(value=owner, slice=index):
                self._flow(owner, target, (ITEM, *select))
                if isinstance(index, ast.Constant):
                    self._flow(owner, target, (f"#{index.value}", *select))
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
                self._flow(one, target, select)
                self._flow(other, target, select)
            case ast.BoolOp(op=operator, values=values):
                for each in values if isinstance(operator, ast.Or) else values[-1:]:
                    self._flow(each, target, select)
            case ast.List(elts=items) | ast.Set(elts=items):
                for item in items:
                    self._item(item, target, select)
            case ast.Tuple(elts=items):
                for index, item in enumerate(items[:_MAX_TUPLE]):
                    if not select:
                        self._flow(item, (*target, f"#{index}"))
                    elif select[0] in {ITEM, f"#{index}"}:
                        self._flow(item, target, select[1:])
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item) | ast.SetComp(elt=item):
                self._item(item, target, select)
            case ast.Call():
                self._flow_of_call(value, target, select)
            case _:
                pass

    def _item(self, item: ast.expr, target: Place, select: Place) -> None:
        if isinstance(item, ast.Starred):
            self._flow(item.value, target, select)
        elif not select:
            self._flow(item, (*target, ITEM))
        elif select[0] == ITEM:
            self._flow(item, target, select[1:])

    def _flow_of_call(  # noqa: C901, PLR0912 - one case a function
        self, call: ast.Call, target: Place, select: Place
    ) -> None:
        match call:
            case ast.Call(func=ast.Name(name)) if name in _KIND_OF_CLASS:
                if not select:
                    self._made.setdefault(_KIND_OF_CLASS[name], set()).add(target)
            case ast.Call(func=ast.Name(name)) if name in _GIVES_NUMBER:
                self._numbers.add(target)
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if (
                name in self._functions
            ):
                self._targets.setdefault((f"{name}()", *select), set()).add(target)
            case ast.Call(func=ast.Name("enumerate"), args=[items, *_]):
                if select[:2] == (ITEM, "#1"):
                    self._flow(items, target, (ITEM, *select[2:]))
            case ast.Call(func=ast.Name("zip"), args=lists):
                for index, items in enumerate(lists[:_MAX_TUPLE]):
                    if select[:2] == (ITEM, f"#{index}"):
                        self._flow(items, target, (ITEM, *select[2:]))
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[*_, items]) if (
                name in _SAME_ITEMS
            ):
                self._flow(items, target, select)
            case ast.Call(
                func=ast.Name("next" | "heappop") | ast.Attribute(attr="heappop"),
                args=[items, *_],
            ):
                self._flow(items, target, (ITEM, *select))
            case ast.Call(func=ast.Attribute(value=items, attr=name)) if name in _GIVES_ITEM:
                self._flow(items, target, (ITEM, *select))
            case ast.Call(func=ast.Attribute(value=items, attr="values" | "copy"), args=[]):
                self._flow(items, target, select)
            case _:
                pass
