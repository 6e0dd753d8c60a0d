# Ranges of a program that uses MindSpore: steps, phases, cells, the graphs of `jit` and the loading of data.
#
# MindSpore hands operators to threads of its own, which plan them later: then nothing says in which cell an operator was
# asked for. Phases, cells and graphs are told where the program has operators launched by the calling thread
# (`mindspore.runtime.launch_blocking`), steps and the loading of data always.
import sys

from ascend_trace_ranges import FUNCTION, LOADER, MODULE, PHASE, Teller, install, passing, text_of

# Where the classes of optimizers are. All of them are cells.
OPTIMIZERS = ("mindspore.nn.optim.optimizer", "mindspore.experimental.optim.optimizer")
# What a cell does in a step. A trainer is a cell with an optimizer in it.
PLAIN, TRAINER, OPTIMIZER = range(3)


def mindspore_is_there(mindspore):
    teller = Teller.find()
    if teller is not None:
        around = _Around(mindspore, teller)
        installers = [lambda it, teller, part=part: part(it, teller, around) for part in PARTS]
        install(mindspore, teller, installers, (("mindspore.dataset.engine.iterators", _loaders),))


class _Around:
    """What is under way in a thread: cells, and the phases around them."""

    def __init__(self, mindspore, teller):
        import threading
        import weakref

        class Open(threading.local):
            def __init__(self):
                # The cells that are under way, and whether a phase is around the innermost of them.
                self.cells, self.is_in_phase = [], False
                # Passes for gradients that are under way, and whether one is over that no optimizer has used.
                self.passes, self.has_gradients = 0, False
                # The `id` of an optimizer that was called in a cell which is still under way.
                self.optimizer = 0
                # Functions that run as graphs, and graphs that the compiler makes.
                self.graphs, self.compiling = [], []

        self.teller, self.open, self.ref = teller, Open(), weakref.ref
        self.is_graph = lambda: mindspore.context._get_mode() == mindspore.context.GRAPH_MODE
        # The same object is there for the whole process.
        self.launches_here = mindspore._c_expression.RuntimeConf.get_instance().is_launch_blocking
        self.known = {}
        # The `id` of the optimizer of each graph that contains one, by the compiler's name of the graph.
        self.in_graphs = {}

    def about(self, cell):
        """What a cell does, its name in the cell around it, and the `id` of the first optimizer in it."""
        known = self.known.get(id(cell))
        if known is None or known[0]() is not cell:
            self.name_all(cell)
            known = self.known[id(cell)]
        return known[1:]

    def bases(self):
        """The classes of optimizers."""
        there = (sys.modules.get(name) for name in OPTIMIZERS)
        return tuple(module.Optimizer for module in there if module is not None)

    def name_all(self, root):
        bases = self.bases()
        cells = list(root.cells_and_names())
        optimizers = [(name, id(cell)) for name, cell in cells if isinstance(cell, bases)]
        for name, cell in cells:
            inside = name + "." if name else ""
            optimizer = next((key for it, key in optimizers if it.startswith(inside)), 0)
            kind = OPTIMIZER if isinstance(cell, bases) else TRAINER if optimizer else PLAIN
            class_name, key = type(cell).__name__, id(cell)
            text = text_of(f"{name} ({class_name})" if name else class_name)
            known = self.ref(cell, lambda _, key=key: self.known.pop(key, None))
            self.known[key] = known, kind, text, key if kind == OPTIMIZER else optimizer

    def begin(self, kind, name):
        """A range begins, if operators are known to be those of the calling thread."""
        return self.teller.begin(kind, name, 0) if self.launches_here() else 0

    def settle(self):
        """Something of a step begins: what an optimizer has ended before is over."""
        optimizer, self.open.optimizer = self.open.optimizer, 0
        if optimizer:
            self.teller.optimized(optimizer)
        self.teller.begins()

    def enter(self, cell):
        """A cell is called. Returns what ends with it."""
        open_ = self.open
        kind, text, optimizer = self.about(cell)
        entry = _Entry(cell, kind, optimizer, open_.is_in_phase)
        if not open_.cells:
            open_.has_gradients = False
        if kind == OPTIMIZER:
            # Some optimizers call others.
            entry.is_outermost = not any(it.kind == OPTIMIZER for it in open_.cells)
            if entry.is_outermost:
                self.teller.begins()
                entry.phase = self.begin(PHASE, b"optimizer")
        else:
            # What is computed again for gradients is a part of the backward pass. In a trainer, a cell may change gradients.
            is_of_gradients = open_.passes or (open_.cells and open_.has_gradients)
            entry.is_outermost = kind == PLAIN and not open_.is_in_phase and not is_of_gradients
            if entry.is_outermost or not open_.cells:
                self.settle()
            if entry.is_outermost:
                entry.phase = self.begin(PHASE, b"forward")
            entry.is_graph = kind == TRAINER and self.is_graph()
            entry.module = self.begin(MODULE, text)
        open_.is_in_phase = open_.is_in_phase or entry.is_outermost
        open_.cells.append(entry)
        return entry

    def leave(self, entry, is_done, _):
        """The call is over; `is_done` if it has raised no error."""
        open_, teller = self.open, self.teller
        cells = open_.cells
        if entry not in cells:
            return
        # What is still open inside it ends with it.
        while cells.pop() is not entry:
            pass
        open_.is_in_phase = entry.is_in_phase
        if entry.module:
            teller.end(entry.module)
        if entry.phase:
            teller.end(entry.phase)
        if is_done:
            # A graph contains its optimizer, which is not called here.
            if entry.is_graph or (entry.kind == OPTIMIZER and entry.is_outermost):
                open_.optimizer, open_.has_gradients = entry.optimizer, False
        self.end_step()

    def end_step(self):
        """The step is over where nothing is under way around its optimizer."""
        open_ = self.open
        if open_.optimizer and not open_.cells and not open_.graphs:
            optimizer, open_.optimizer = open_.optimizer, 0
            self.teller.optimized(optimizer)

    def runs_graph(self, cell):
        """A graph of this cell runs."""
        for entry in self.open.cells[-1:]:
            if entry.cell is cell and entry.kind == TRAINER:
                entry.is_graph = True


class _Graph:
    """A function that runs as a graph, or a graph that the compiler makes: the optimizer in it, and those that were parsed."""

    def __init__(self):
        self.number = self.optimizer = 0
        self.parsed = []


class _Entry:
    """A cell that is under way."""

    __slots__ = ("cell", "kind", "optimizer", "is_in_phase", "is_outermost", "phase", "module", "is_graph")

    def __init__(self, cell, kind, optimizer, is_in_phase):
        self.cell, self.kind, self.optimizer, self.is_in_phase = cell, kind, optimizer, is_in_phase
        self.phase = self.module = 0
        self.is_graph = self.is_outermost = False


def _put_around(owner, name, enter, leave):
    """Has `enter` called before a function, and `leave` with its result after it. Errors that pass show no frame of this file."""
    import functools

    call = getattr(owner, name)

    def off():
        # A hook that does not fit is none.
        if getattr(owner, name) is around:
            setattr(owner, name, call)

    @functools.wraps(call)
    def around(*args, **kwargs):
        is_done, result = False, None
        try:
            entry = enter(*args)
        except Exception:
            entry = None
            off()
        try:
            result = call(*args, **kwargs)
            is_done = True
            return result
        except BaseException as error:
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            if entry is not None:
                try:
                    leave(entry, is_done, result)
                except Exception:
                    off()

    setattr(owner, name, around)


def _cells(mindspore, teller, around):
    """Cells by their names in the cell around them, and the phases `forward` and `optimizer`."""
    _put_around(mindspore.nn.Cell, "__call__", lambda cell, *_: around.enter(cell), around.leave)


def _gradients(mindspore, teller, around):
    """The phase `backward`."""

    def enter(*_):
        around.settle()
        around.open.passes += 1
        return around.begin(PHASE, b"backward")

    def leave(number, *_):
        around.open.passes -= 1
        around.open.has_gradients = True
        teller.end(number)

    _put_around(type(mindspore.graph.api._pynative_executor), "grad", enter, leave)


def _graphs(mindspore, teller, around):
    """Functions that run as graphs, by their names. A graph with an optimizer ends a step."""

    def enter(graph, *_):
        open_ = around.open
        around.runs_graph(graph.shard_parent_obj)
        if not (open_.cells or open_.passes or open_.graphs):
            around.settle()
        run = _Graph()
        name = graph.fn.__qualname__.rpartition("<locals>.")[2]
        run.number = around.begin(FUNCTION, text_of(name))
        open_.graphs.append(run)
        return run

    def leave(run, is_done, _):
        open_ = around.open
        # What is still open inside it ends with it.
        while open_.graphs.pop() is not run:
            pass
        teller.end(run.number)
        if is_done and run.optimizer:
            open_.optimizer, open_.has_gradients = run.optimizer, False
        around.end_step()

    _put_around(mindspore.graph.api._JitExecutor, "__call__", enter, leave)


def _optimizers_in_graphs(mindspore, teller, around):
    """Which graphs contain an optimizer.

    The compiler parses an optimizer's `construct` also where a function only reads one of its attributes. It looks up a name of
    the module in `construct`, or a private attribute of the optimizer, where the graph calls it.
    """
    import mindspore.graph._parse as parse

    def compiles(*_):
        graph = _Graph()
        around.open.compiling.append(graph)
        return graph

    def compiled(graph, is_done, name):
        open_ = around.open
        while open_.compiling.pop() is not graph:
            pass
        if not is_done:
            return
        # A graph that is already there has been parsed before.
        if graph.optimizer:
            around.in_graphs[name] = graph.optimizer
        for run in open_.graphs[-1:]:
            run.optimizer = around.in_graphs.get(name, 0)

    def parses(parser, function, *_):
        return (parser, function) if around.open.compiling else None

    def parsed(entry, *_):
        parser, function = entry
        owner = getattr(function, "__self__", None)
        if isinstance(owner, around.bases()) and function.__name__ == "construct":
            around.open.compiling[-1].parsed.append((owner, parser.global_namespace))

    def looks_up(namespace, name, *_):
        for graph in around.open.compiling[-1:]:
            for owner, own in graph.parsed:
                is_private = name.startswith("_") and any(it is owner for it in namespace.dicts)
                if not graph.optimizer and (namespace is own or is_private):
                    graph.optimizer = id(owner)

    _put_around(mindspore.graph.api._JitExecutor, "compile", compiles, compiled)
    _put_around(parse.parser.Parser, "__init__", parses, parsed)
    _put_around(parse, "resolve_symbol", looks_up, None)


def _loaders(module, teller):
    base = module.Iterator
    base.__next__ = passing(base.__next__, LOADER, b"dataloader", teller, teller.begins)


PARTS = (_cells, _gradients, _graphs, _optimizers_in_graphs)
