# Ranges of a program that uses PyTorch: steps, phases, modules, the loading of data and `record_function`.
import sys

from ascend_trace_ranges import FETCH, FUNCTION, LOADER, MODULE, PHASE, Teller, install, passing, text_of

# Names of `record_function` that PyTorch itself gives to what it does.
LOADER_PREFIX = "enumerate(DataLoader)#"
OPTIMIZER_PREFIX = "Optimizer.step#"


def torch_is_there(torch):
    teller = Teller.find()
    if teller is not None:
        later = (("torch.utils.data.dataloader", _loaders), ("torch.utils.data._utils.fetch", _fetchers))
        install(torch, teller, (_functions, _optimizers, _modules, _backward), later)


def _functions(torch, teller):
    """`record_function`, by which PyTorch also tells of optimizers and of loaders."""
    import functools

    function = torch.autograd.profiler.record_function
    enter, leave = function.__enter__, function.__exit__
    begin, end = teller.begin, teller.end
    numbers = {}

    def tell(self):
        name = str(self.name)
        if name.startswith(LOADER_PREFIX):
            teller.begins()
            return begin(LOADER, b"dataloader", 0)
        if name.startswith(OPTIMIZER_PREFIX):
            teller.begins()
            return begin(PHASE, b"optimizer", 0)
        return begin(FUNCTION, text_of(name), 0)

    @functools.wraps(enter)
    def __enter__(self):
        try:
            numbers[id(self)] = tell(self)
        except Exception:
            pass
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self, exc_type, exc_value, traceback):
        answer = leave(self, exc_type, exc_value, traceback)
        number = numbers.pop(id(self), 0)
        if number:
            end(number)
        return answer

    function.__enter__, function.__exit__ = __enter__, __exit__


def _optimizers(torch, teller):
    def after(optimizer, args, kwargs):
        teller.optimized(id(optimizer))

    # The package hides the module's name.
    sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(after)


def _modules(torch, teller):
    """Modules by their names in the model around them, and the phase `forward` around the outermost."""
    import threading
    import weakref

    begin, end = teller.begin, teller.end
    compiling, tracing = _compiling(torch), torch._C._get_tracing_state
    gradients = _gradients(torch, teller)
    names = {}

    class Stack(threading.local):
        def __init__(self):
            # The modules that are under way, each with its range, its name and where its part of the graph begins;
            # and the phase around them.
            self.open = []
            self.phase = 0

    stack = Stack()

    def name_all(root):
        kind = type(root).__name__
        for name, module in root.named_modules():
            key = id(module)
            text = text_of(f"{name} ({type(module).__name__})" if name else kind)
            names[key] = weakref.ref(module, lambda _, key=key: names.pop(key, None)), text

    def name_of(module):
        known = names.get(id(module))
        if known is None or known[0]() is not module:
            name_all(module)
            known = names[id(module)]
        return known[1]

    def before(module, args):
        if compiling() or tracing():
            return
        try:
            under_way = stack.open
            if not under_way:
                teller.begins()
                # What is computed again for gradients is a part of the backward pass.
                stack.phase = 0 if gradients.in_pass() else begin(PHASE, b"forward", 0)
            since = gradients.enter(args, under_way)
            text = name_of(module)
            under_way.append((module, begin(MODULE, text, 0), text, since))
        except Exception:
            pass

    def after(module, args, result):
        under_way = stack.open
        if not under_way or under_way[-1][0] is not module:
            if not any(entry[0] is module for entry in under_way):
                return
            # What is still open inside it ends with it.
            while under_way[-1][0] is not module:
                under_way.pop()
        _, number, text, since = under_way.pop()
        try:
            if since is not None and result is not None:
                gradients.leave(result, text, since)
        except Exception:
            pass
        end(number)
        if not under_way:
            end(stack.phase)

    hooks = torch.nn.modules.module
    hooks.register_module_forward_pre_hook(before)
    try:
        hooks.register_module_forward_hook(after, always_call=True)
    except TypeError:
        hooks.register_module_forward_hook(after)


def _gradients(torch, teller):
    try:
        return _Gradients(torch, teller)
    except Exception:
        return _NoGradients()


class _NoGradients:
    """For releases that do not tell what is needed."""

    def in_pass(self):
        return False

    def enter(self, args, under_way):
        return None

    def leave(self, result, text, since):
        pass


class _Gradients:
    """Tells whose gradients are computed, by hooks of the graph's nodes.

    Nodes are numbered in the order in which they are made, and autograd goes backwards through these numbers. The
    last node of a module says where its gradients begin. Where a module's input comes from none, from `a + b` for
    one, that node says that those of the module around it go on there. The hooks are called with gradients and
    answer nothing: they are left as they are.
    """

    # Outputs of a module that are looked at.
    MOST = 8
    # Nodes that are remembered.
    NODES = 1 << 14

    def __init__(self, torch, teller):
        import functools
        import threading

        self.sequence = torch._C._autograd._get_sequence_nr
        self.pass_of = torch._C._current_graph_task_id
        self.enabled = torch.is_grad_enabled
        self.transforms = torch._C._functorch.peek_interpreter_stack
        self.tensor, self.partial, self.turn = torch.Tensor, functools.partial, teller.turn
        self.yielding = _Yielding()

        class Known(threading.local):
            def __init__(self):
                # Numbers of nodes that have a hook; all below `floor` are taken for such.
                self.marked, self.floor = set(), 0

        self.known = Known()

    def in_pass(self):
        return self.pass_of() != -1

    def enter(self, args, under_way):
        """A module begins. Returns the number of its first node; nothing where no gradients are to be told."""
        if under_way:
            if under_way[-1][3] is None or not self.enabled():
                return None
        elif not self.is_wanted():
            return None
        for value in args:
            if isinstance(value, self.tensor):
                node = value.grad_fn
                if node is not None:
                    self.mark(node, node._sequence_nr(), under_way)
        return self.sequence()

    def is_wanted(self):
        """Whether the gradients of an outermost module are to be told."""
        if not self.enabled() or self.transforms() is not None or _autograd_is_compiled():
            return False
        return self.yielding.is_quick()

    def leave(self, result, text, since):
        """A module has computed this, in nodes from `since` on."""
        if isinstance(result, self.tensor):
            results = (result,)
        elif isinstance(result, dict):
            results = tuple(result.values())[: self.MOST]
        elif isinstance(result, (tuple, list)):
            results = result[: self.MOST]
        else:
            return
        for value in results:
            node = value.grad_fn if isinstance(value, self.tensor) else None
            if node is not None:
                number = node._sequence_nr()
                if number >= since:
                    self.mark(node, number, text)

    def mark(self, node, number, owner):
        """A node says whose it is: a module's of this name, or of the innermost that was under way when it was made."""
        known = self.known
        marked = known.marked
        if number in marked or number < known.floor:
            return
        if type(owner) is list:
            owners = (text for _, _, text, since in reversed(owner) if since is not None and since <= number)
            owner = next(owners, b"")
        if len(marked) >= self.NODES:
            marked.clear()
            known.floor = self.sequence()
        marked.add(number)
        node.register_prehook(self.partial(self.turn, owner))


def _autograd_is_compiled():
    compiled = sys.modules.get("torch._dynamo.compiled_autograd")
    config = sys.modules.get("torch._dynamo.config")
    return getattr(compiled, "compiled_autograd_enabled", False) or getattr(config, "compiled_autograd", False)


class _Yielding:
    """Whether other threads of the program keep the interpreter busy.

    A hook of a node takes the interpreter's lock, and where others want it, that takes until the next change of
    threads. In such programs gradients are not told.
    """

    # Seconds that the lock may take, and outermost modules that pass at most until it is tried again.
    MOST = 1e-3
    LONGEST = 64

    def __init__(self):
        import resource
        import time

        self.now, self.sleep = time.perf_counter, time.sleep
        self.usage, self.own = resource.getrusage, resource.RUSAGE_THREAD
        self.wait = self.left = 0

    def is_quick(self):
        if self.left:
            self.left -= 1
            return False
        if self.gets_the_lock():
            self.wait //= 2
            return True
        # Finding out costs the program time.
        self.left = self.wait = min(2 * self.wait + 1, self.LONGEST)
        return False

    def gets_the_lock(self):
        slept, since = self.usage(self.own).ru_nvcsw, self.now()
        self.sleep(0)
        if self.now() - since < self.MOST:
            return True
        # The sleep itself is one; without another, the system was busy and not the interpreter.
        return self.usage(self.own).ru_nvcsw - slept < 2


def _compiling(torch):
    return getattr(getattr(torch, "compiler", None), "is_compiling", None) or (lambda: False)


def _backward(torch, teller):
    autograd, compiling = torch.autograd, _compiling(torch)
    for name in ("backward", "grad"):
        around = passing(getattr(autograd, name), PHASE, b"backward", teller, teller.begins, compiling, teller.over)
        setattr(autograd, name, around)


def _loaders(module, teller):
    """Loaders that say nothing by `record_function`, in releases that have none there."""
    base = module._BaseDataLoaderIter
    code = getattr(base.__next__, "__code__", None)
    if code is not None and "record_function" not in code.co_names:
        base.__next__ = passing(base.__next__, LOADER, b"dataloader", teller, teller.begins)


def _fetchers(module, teller):
    """What fetches a batch: in the program's own thread, or in processes that do nothing else."""
    import os

    home = os.getpid()

    def first():
        nonlocal home
        if home != os.getpid():
            home = os.getpid()
            data = sys.modules.get("torch.utils.data")
            worker = data.get_worker_info() if data is not None else None
            if worker is not None:
                teller.name_thread(b"DataLoader worker %d" % worker.id)

    for kind in ("_IterableDatasetFetcher", "_MapDatasetFetcher"):
        fetcher = getattr(module, kind)
        fetcher.fetch = passing(fetcher.fetch, FETCH, b"fetch", teller, first)
