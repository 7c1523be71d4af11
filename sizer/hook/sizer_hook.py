"""Counts the steps of PyTorch and MXNet from outside. Loaded when a program imports one of them.

Standard library only. What this puts around the frameworks' own functions catches whatever goes wrong in itself: then
no more steps are told, and the program goes on.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import sys
import time
from itertools import islice
from threading import get_ident, main_thread
from typing import TYPE_CHECKING, Any

from sizer_steps import Pass, StepCounter

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

PASS = "_sizer_pass"
"""The attribute of a framework's iterator that holds its Pass."""

AT_ONCE = "_exit"
"""The function of `os` that ends a process without `atexit`."""

MOST_WAYS = 64
"""Places in a batch that are looked at for the number of its samples."""

clock = time.monotonic


class Watch:
    """What is seen of one framework in this process."""

    def __init__(
        self,
        source: str,
        learning: Callable[[], bool],
        helping: Callable[[], bool],
        loader: Callable[[Any], Any] = lambda _: None,
    ) -> None:
        """`loader` names something of an iterator that the others of its loader have, too."""
        self._source = source
        self._loader = loader
        self._learning = learning
        self._helping = helping
        self.reset()
        os.register_at_fork(after_in_child=self.reset)
        atexit.register(self.close)
        setattr(os, AT_ONCE, first(self.close, getattr(os, AT_ONCE)))

    def reset(self) -> None:
        """A child of a fork has told nothing, and what its parent still has to tell is the parent's."""
        self._writer = METER.EventWriter(self._source)
        self.counter = StepCounter(self._tell)
        self._off = False
        self._tells = False
        self._asking: set[int] = set()

    def going_through(self, iterator: Any) -> tuple[Pass, float] | None:
        """The way through a loader that this iterator is on, now that it is asked for a batch, and the time.

        None where that is no business of ours: an iterator inside another one, or in a loader's worker.
        """
        if self._off or get_ident() in self._asking or self._helping():
            return None
        try:
            now = clock()
            going = iterator.__dict__.get(PASS)
            if going is None or going.over or going.counter is not self.counter:
                loader = self._loader(iterator)
                going = iterator.__dict__[PASS] = Pass(self.counter, loader, _is_of_one_batch(loader))
            self.counter.asked(going, now)
            self._asking.add(get_ident())
            return going, now
        except Exception:
            self._broke()
            return None

    def got(self, going: tuple[Pass, float], iterator: Any, batch: Any, batch_size: Callable[[Any], Any]) -> None:
        """The batch that came of it; `batch_size` is what the loader says that a full one has, if it does."""
        try:
            self._asking.discard(get_ident())
            way, asked = going
            count = way.count
            if count is None:
                count = way.count = samples_of(batch, batch_size(iterator))
            self.counter.got(way, count(batch), clock() - asked, self._learning())
        except Exception:
            self._broke()

    def got_none(self, going: tuple[Pass, float], error: BaseException) -> None:
        """It raised instead: the end of the loader, or an error of the program's own."""
        try:
            self._asking.discard(get_ident())
            if isinstance(error, StopIteration):
                self.counter.ended(going[0])
        except Exception:
            self._broke()

    def has_optimizer(self) -> None:
        """The program makes an optimizer."""
        self.counter.has_optimizer = True

    def optimized(self, optimizer: Any, samples: int | None = None) -> None:
        """An optimizer has made a step."""
        if self._off:
            return
        try:
            self.counter.optimized(optimizer, clock(), samples)
        except Exception:
            self._broke()

    def close(self) -> None:
        """The process ends: what is kept is told."""
        if self._off:
            return
        try:
            self.counter.finish()
            if self._tells:
                self._writer.end()
            self._off = True
        except Exception:
            self._broke()

    def _tell(self, phase: str, step: tuple[float, int | None, float, int]) -> None:
        if not self._tells:
            self._tells = True
            multiprocessing = sys.modules.get("multiprocessing.util")
            if multiprocessing is not None:
                # A process that it forks ends without `atexit`.
                multiprocessing.Finalize(None, self.close, exitpriority=0)
        self._writer.beside = self.counter.side_by_side
        self._writer.step(phase, step)

    def _broke(self) -> None:
        self._off = True


def samples_of(batch: Any, batch_size: Any) -> Callable[[Any], int | None]:
    """How to count the samples of such batches, learnt from the first.

    They are the first dimension of the first array in it. Where the loader names its batch size and another array or
    dimension or the length of a list fits better, such as the list of images of different sizes that detection has,
    that is it.
    """
    ways = list(_ways(batch, ()))
    fitting = [way for way in ways if _walk(batch, way) == batch_size]
    if not fitting:
        # What stands first is of something else than the samples.
        fitting = [way for way in islice(_ways(batch, (), every=True), MOST_WAYS) if _walk(batch, way) == batch_size]
    if not ways:
        return lambda _: None
    chosen = (fitting or ways)[0]

    def count(later: Any) -> int | None:
        try:
            return int(_walk(later, chosen))
        except (TypeError, ValueError, LookupError, AttributeError):
            return None

    return count


def _ways(value: Any, path: tuple[Any, ...], every: bool = False) -> Any:
    """Ways to a number that may be that of samples, the likeliest first.

    They lead to the first two dimensions of the first array, or to the first one of `every` array.
    """
    shape = getattr(value, "shape", None)
    if shape is not None:
        yield from ((*path, ("dimension", index)) for index in range(min(1 if every else 2, len(shape))))
        return
    if hasattr(value, "num_graphs"):
        # A batch of torch_geometric.
        yield (*path, ("attribute", "num_graphs"))
        return
    if isinstance(getattr(value, "data", None), (list, tuple)) and hasattr(value, "label"):
        # A DataBatch of MXNet.
        yield from _ways(value.data, (*path, ("attribute", "data")), every)
        return
    keys = list(value.keys()) if hasattr(value, "keys") else None
    items = keys if keys is not None else range(len(value)) if isinstance(value, (list, tuple)) else ()
    if len(path) < 4:
        for key in items:
            found = list(_ways(value[key], (*path, ("item", key)), every))
            yield from found
            if found and not every:
                break
    if isinstance(value, (list, tuple)):
        yield (*path, ("length", None))


def _walk(value: Any, way: tuple[Any, ...]) -> Any:
    for kind, key in way:
        if kind == "item":
            value = value[key]
        elif kind == "attribute":
            value = getattr(value, key)
        elif kind == "dimension":
            return value.shape[key]
        else:
            return len(value)
    return value


def _is_of_one_batch(loader: Any) -> bool:
    try:
        return len(loader) == 1
    except Exception:
        # It has no length, or says none.
        return False


def counted_next(
    watch: Watch, original: Callable[[Any], Any], batch_size: Callable[[Any], Any], only_main: bool = False
) -> Callable[[Any], Any]:
    """The `__next__` of a framework's iterator with a look at what passes through it.

    `only_main` leaves out what other threads ask for: they are another iterator's, which asks ahead.
    """

    @functools.wraps(original)
    def following(self: Any) -> Any:
        if only_main and get_ident() != main_thread().ident:
            return original(self)
        going = watch.going_through(self)
        if going is None:
            return original(self)
        try:
            batch = original(self)
        except BaseException as error:
            watch.got_none(going, error)
            raise
        watch.got(going, self, batch, batch_size)
        return batch

    return following


def first(act: Callable[[], None], original: Callable[..., Any]) -> Callable[..., Any]:
    """The function with something done before it."""

    @functools.wraps(original)
    def both(*arguments: Any, **named: Any) -> Any:
        act()
        return original(*arguments, **named)

    return both


class Torch:
    """PyTorch from 2.0 on, which has hooks for every optimizer."""

    def __init__(self) -> None:
        self._watch: Watch | None = None

    def optimizers(self, module: ModuleType) -> None:
        """Called when `torch.optim.optimizer` has been imported."""
        if not hasattr(module, "register_optimizer_step_post_hook"):
            return
        watch = self._watching()

        def stepped(optimizer: Any, *_: Any) -> None:
            watch.optimized(optimizer)

        # What torch.compile compiles of an optimizer is not to include this.
        stepped._torchdynamo_disable = True  # type: ignore[attr-defined]
        module.register_optimizer_step_post_hook(stepped)
        module.Optimizer.__init__ = first(watch.has_optimizer, module.Optimizer.__init__)

    def loaders(self, module: ModuleType) -> None:
        """Called when `torch.utils.data.dataloader` has been imported."""
        watch, base = self._watching(), module._BaseDataLoaderIter

        def batch_size(iterator: Any) -> Any:
            return getattr(iterator._index_sampler, "batch_size", None)

        base.__next__ = counted_next(watch, base.__next__, batch_size)
        begin_again = base._reset

        @functools.wraps(begin_again)
        def reset(self: Any, *arguments: Any, **named: Any) -> Any:
            # The workers of one epoch are kept for the next, and so is the iterator.
            self.__dict__.pop(PASS, None)
            return begin_again(self, *arguments, **named)

        base._reset = reset

    def _watching(self) -> Watch:
        if self._watch is None:
            torch = sys.modules["torch"]

            def helping() -> bool:
                worker = sys.modules.get("torch.utils.data._utils.worker")
                return worker is not None and worker._worker_info is not None

            self._watch = Watch("torch", lambda: torch.is_grad_enabled(), helping, lambda it: it._index_sampler)
        return self._watch


class Mxnet:
    """MXNet's gluon and Module, and its two kinds of loaders."""

    def __init__(self) -> None:
        self._watch: Watch | None = None

    def trainer(self, module: ModuleType) -> None:
        """Called when `mxnet.gluon.trainer` has been imported."""
        watch, trainer = self._watching(), module.Trainer
        trainer.__init__ = first(watch.has_optimizer, trainer.__init__)
        for name in ("step", "update"):
            setattr(trainer, name, self._then_optimized(getattr(trainer, name)))

    def module(self, module: ModuleType) -> None:
        """Called when `mxnet.module.module` has been imported."""
        watch, kind = self._watching(), module.Module
        kind.init_optimizer = first(watch.has_optimizer, kind.init_optimizer)
        kind.update = self._then_optimized(kind.update)

    def iterators(self, module: ModuleType) -> None:
        """Called when `mxnet.io.io` has been imported."""
        watch, base = self._watching(), module.DataIter

        def batch_size(iterator: Any) -> Any:
            return getattr(iterator, "batch_size", None) or None

        def count(kind: Any) -> None:
            # A program may call either, and an iterator of its own have its own, as that of MXNet's examples has.
            for name, only_main in (("__next__", False), ("next", True)):
                own = vars(kind).get(name)
                if own is not None:
                    setattr(kind, name, counted_next(watch, own, batch_size, only_main))

        def made(kind: Any, /, **named: Any) -> None:
            super(base, kind).__init_subclass__(**named)
            count(kind)

        for kind in list(vars(module).values()):
            if isinstance(kind, type) and issubclass(kind, base):
                count(kind)
        base.__init_subclass__ = classmethod(made)

    def loaders(self, module: ModuleType) -> None:
        """Called when `mxnet.gluon.data.dataloader` has been imported."""
        watch = self._watching()

        def batch_size(iterator: Any) -> Any:
            return getattr(iterator.sampler, "_batch_size", None)

        class Batches:
            """What a gluon loader's generator yields."""

            def __init__(self, batches: Any, sampler: Any) -> None:
                self._batches = batches
                self.sampler = sampler

            def __iter__(self) -> Any:
                return self

            def __next__(self) -> Any:
                return next(self._batches)

        counted: Any = counted_next(watch, Batches.__next__, batch_size)
        Batches.__next__ = counted  # type: ignore[method-assign]
        base, original = module.DataLoader, module.DataLoader.__iter__

        @functools.wraps(original)
        def iterate(self: Any) -> Any:
            return Batches(original(self), self._batch_sampler)

        base.__iter__ = iterate

    def _then_optimized(self, original: Callable[..., Any]) -> Callable[..., Any]:
        watch = self._watching()

        @functools.wraps(original)
        def step(self: Any, *arguments: Any, **named: Any) -> Any:
            made = original(self, *arguments, **named)
            size = arguments[0] if arguments else named.get("batch_size")
            watch.optimized(self, size if isinstance(size, int) else None)
            return made

        return step

    def _watching(self) -> Watch:
        if self._watch is None:
            self._watch = Watch("mxnet", lambda: True, lambda: False, lambda it: getattr(it, "sampler", it))
        return self._watch


def _meter() -> Any:
    """The module beside this folder, by its path: the program's interpreter need not have sizer."""
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "meter.py")
    spec = importlib.util.spec_from_file_location("sizer_meter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


METER = _meter()


def watchers() -> dict[str, Callable[[ModuleType], None]]:
    """What is to be called with a module, by its name, once it has been imported."""
    METER.EventWriter("hook").hooked()
    torch, mxnet = Torch(), Mxnet()
    return {
        "torch.optim.optimizer": torch.optimizers,
        "torch.utils.data.dataloader": torch.loaders,
        "mxnet.gluon.trainer": mxnet.trainer,
        "mxnet.module.module": mxnet.module,
        "mxnet.io.io": mxnet.iterators,
        "mxnet.gluon.data.dataloader": mxnet.loaders,
    }
