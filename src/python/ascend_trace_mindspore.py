# Ranges of a program that uses MindSpore: steps, phases, cells, the graphs of `jit` and the loading of data.
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
        installers = [lambda it, teller, part=part: part(it, teller, around) for part in (_cells, _gradients, _graphs)]
        install(mindspore, teller, installers, (("mindspore.dataset.engine.iterators", _loaders),))


class _Around:
    """What is under way in a thread: cells, and the phases around them."""

    def __init__(self, mindspore, teller):
        import threading
        import weakref

        class Open(threading.local):
            def __init__(self):
                # The cells that are under way, and the phase around the innermost of them.
                self.cells, self.phase = [], 0
                # Passes for gradients that are under way.
                self.passes = 0
                # The `id` of an optimizer that was called in a cell which is still under way.
                self.optimizer = 0

        self.teller, self.open, self.ref = teller, Open(), weakref.ref
        self.is_graph = lambda: mindspore.context._get_mode() == mindspore.context.GRAPH_MODE
        self.known = {}

    def about(self, cell):
        """What a cell does, its name in the cell around it, and the `id` of the first optimizer in it."""
        known = self.known.get(id(cell))
        if known is None or known[0]() is not cell:
            self.name_all(cell)
            known = self.known[id(cell)]
        return known[1:]

    def name_all(self, root):
        there = (sys.modules.get(name) for name in OPTIMIZERS)
        bases = tuple(module.Optimizer for module in there if module is not None)
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

    def settle(self):
        """Something of a step begins: what an optimizer has ended before is over."""
        optimizer, self.open.optimizer = self.open.optimizer, 0
        if optimizer:
            self.teller.optimized(optimizer)
        self.teller.begins()

    def enter(self, cell):
        """A cell is called. Returns what ends with it."""
        open_, begin = self.open, self.teller.begin
        kind, text, optimizer = self.about(cell)
        entry = _Entry(cell, kind, optimizer, open_.phase)
        if kind == OPTIMIZER:
            # Some optimizers call others.
            if not any(it.kind == OPTIMIZER for it in open_.cells):
                self.teller.begins()
                entry.phase = begin(PHASE, b"optimizer", 0)
        else:
            # What is computed again for gradients is a part of the backward pass.
            if kind == PLAIN and not open_.phase and not open_.passes:
                self.settle()
                entry.phase = begin(PHASE, b"forward", 0)
            elif not open_.cells:
                self.settle()
            entry.is_graph = kind == TRAINER and self.is_graph()
            entry.module = begin(MODULE, text, 0)
        open_.phase = entry.phase or open_.phase
        open_.cells.append(entry)
        return entry

    def leave(self, entry, is_done):
        """The call is over; `is_done` if it has raised no error."""
        open_, teller = self.open, self.teller
        cells = open_.cells
        if entry not in cells:
            return
        # What is still open inside it ends with it.
        while cells.pop() is not entry:
            pass
        open_.phase = entry.phase_around
        if entry.module:
            teller.end(entry.module)
        if entry.phase:
            teller.end(entry.phase)
        if is_done:
            # A graph contains its optimizer, which is not called here.
            if entry.is_graph or (entry.kind == OPTIMIZER and entry.phase):
                open_.optimizer = entry.optimizer
        if not cells and open_.optimizer:
            optimizer, open_.optimizer = open_.optimizer, 0
            teller.optimized(optimizer)

    def runs_graph(self, cell):
        """A graph of this cell runs."""
        for entry in self.open.cells[-1:]:
            if entry.cell is cell and entry.kind == TRAINER:
                entry.is_graph = True


class _Entry:
    """A cell that is under way."""

    __slots__ = ("cell", "kind", "optimizer", "phase_around", "phase", "module", "is_graph")

    def __init__(self, cell, kind, optimizer, phase_around):
        self.cell, self.kind, self.optimizer, self.phase_around = cell, kind, optimizer, phase_around
        self.phase = self.module = 0
        self.is_graph = False


def _cells(mindspore, teller, around):
    """Cells by their names in the cell around them, and the phases `forward` and `optimizer`."""
    import functools

    base = mindspore.nn.Cell
    call, enter, leave = base.__call__, around.enter, around.leave

    def off():
        # A hook that does not fit is none.
        if base.__call__ is __call__:
            base.__call__ = call

    @functools.wraps(call)
    def __call__(self, *args, **kwargs):
        try:
            entry = enter(self)
        except Exception:
            entry = None
            off()
        is_done = False
        try:
            result = call(self, *args, **kwargs)
            is_done = True
            return result
        except BaseException as error:
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            if entry is not None:
                try:
                    leave(entry, is_done)
                except Exception:
                    off()

    base.__call__ = __call__


def _gradients(mindspore, teller, around):
    """The phase `backward`."""
    executor = type(mindspore.graph.api._pynative_executor)

    def first():
        around.settle()
        around.open.passes += 1

    def last():
        around.open.passes -= 1

    executor.grad = passing(executor.grad, PHASE, b"backward", teller, first, last=last)


def _graphs(mindspore, teller, around):
    """Functions that run as graphs, by their names."""
    import functools

    executor = mindspore.graph.api._JitExecutor
    call, begin, end = executor.__call__, teller.begin, teller.end

    def tell(graph):
        around.runs_graph(graph.shard_parent_obj)
        return begin(FUNCTION, text_of(graph.fn.__qualname__.rpartition("<locals>.")[2]), 0)

    @functools.wraps(call)
    def __call__(self, *args, **kwargs):
        try:
            number = tell(self)
        except Exception:
            number = 0
        try:
            return call(self, *args, **kwargs)
        except BaseException as error:
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            end(number)

    executor.__call__ = __call__


def _loaders(module, teller):
    base = module.Iterator
    base.__next__ = passing(base.__next__, LOADER, b"dataloader", teller, teller.begins)
