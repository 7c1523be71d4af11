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
from collections import deque
from itertools import islice
from threading import get_ident, main_thread
from typing import TYPE_CHECKING, Any

from sizer_steps import MOST_HELD, Pass, StepCounter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

PASS = "_sizer_pass"
"""The attribute of a framework's iterator that holds its Pass."""

SIZES = "_sizer_sizes"
"""That of PyTorch's iterator that holds of how many samples each batch is that it has been asked for."""

EXIT_FUNCTION = "_exit"
"""The function of `os` that ends a process without `atexit`."""

BATCH_SIZE_VARIABLE = "SIZER_BATCH_SIZE"
"""Holds the batch size that the study gives."""

MOST_ARRAYS = 64
"""That are looked at in a batch for the number of its samples."""

DEEPEST = 4
"""Levels of a batch, or samplers around samplers."""

CHANNELS = (1, 3, 4)
"""Of a picture: grey, three colours, and these with transparency."""

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
        setattr(os, EXIT_FUNCTION, first(self.close, getattr(os, EXIT_FUNCTION)))

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

    def got(self, going: tuple[Pass, float], iterator: Any, batch: Any, size_of: Callable[[Any], int | None]) -> None:
        """The batch that came of it; `size_of` is asked once of each, how many samples the loader says it has."""
        try:
            self._asking.discard(get_ident())
            way, asked = going
            size = size_of(iterator) or given_size()
            count = way.count
            if count is None:
                count = way.count = samples_of(batch, size)
            self.counter.got(way, count(batch, size), clock() - asked, self._learning())
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


def samples_of(batch: Any, size: int | None) -> Callable[[Any, int | None], int | None]:
    """How to count the samples of such batches, learnt from the first; `size` is what something says of each one.

    Where nothing says it, they are what all arrays of the batch agree on, None where these do not. Arrays are no match
    for what is said: the first may be of boxes, or of colour channels. But where those of the first batch agree with
    it, fewer of a later one are those of a last batch, or of one from which some were left out.
    """
    full = size is not None and agreed_dimension(batch) == size

    def count(later: Any, size: int | None) -> int | None:
        agreed = agreed_dimension(later) if full or size is None else None
        if size is None or agreed is None:
            return size or agreed
        return min(size, agreed)

    return count


def agreed_dimension(batch: Any) -> int | None:
    """The first dimension of all arrays of a batch, of which there are several; None where they are not of one mind.

    Those of a single sample may agree, too, such as a picture and its mask: where one may be a picture, it is None.
    """
    graphs = getattr(batch, "num_graphs", None)
    if isinstance(graphs, int):
        # A batch of torch_geometric, whose arrays are as long as it has nodes or edges.
        return graphs
    shapes = list(islice(_shapes(batch, 0), MOST_ARRAYS))
    firsts = {shape[0] for shape in shapes}
    if len(shapes) < 2 or len(firsts) != 1 or any(_may_be_a_picture(shape) for shape in shapes):
        return None
    return int(firsts.pop())


def _may_be_a_picture(shape: tuple[int, ...]) -> bool:
    """Whether it has colour channels, before or behind its height and width, and no dimension beside."""
    return len(shape) == 3 and (shape[0] in CHANNELS or shape[-1] in CHANNELS)


def _shapes(value: Any, depth: int) -> Iterator[tuple[int, ...]]:
    """Of the arrays in a batch. A list of samples, each a mapping, is no batch of arrays."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        if len(shape):
            yield tuple(shape)
        return
    if isinstance(getattr(value, "data", None), (list, tuple)) and hasattr(value, "label"):
        # A DataBatch of MXNet.
        parts = [value.data, value.label]
    elif hasattr(value, "keys"):
        parts = [value[key] for key in value.keys()]  # noqa: SIM118 - not every mapping iterates over its keys
    elif isinstance(value, (list, tuple)) and not any(hasattr(part, "keys") for part in value):
        parts = list(value)
    else:
        return
    if depth < DEEPEST:
        for part in parts:
            yield from _shapes(part, depth + 1)


def named_size(sampler: Any) -> int | None:
    """The batch size that a sampler names, or one that it is wrapped around: each of them calls it its own way."""
    for _ in range(DEEPEST):
        for name in ("batch_size", "_batch_size"):
            size = getattr(sampler, name, None)
            if isinstance(size, int) and size > 0:
                return int(size)
        sampler = getattr(sampler, "batch_sampler", None) or getattr(sampler, "sampler", None)
    return None


def given_size() -> int | None:
    """The batch size that the user says the program has; None where nobody says it."""
    text = os.environ.get(BATCH_SIZE_VARIABLE, "")
    return int(text) if text.isdigit() else None


def _is_of_one_batch(loader: Any) -> bool:
    try:
        return len(loader) == 1
    except Exception:
        # It has no length, or says none.
        return False


def counted_next(
    watch: Watch, original: Callable[[Any], Any], size_of: Callable[[Any], int | None], only_main: bool = False
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
        watch.got(going, self, batch, size_of)
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

        def size_of(iterator: Any) -> int | None:
            asked_for = iterator.__dict__.get(SIZES)
            return (asked_for.popleft() if asked_for else None) or named_size(iterator._index_sampler)

        base.__next__ = counted_next(watch, base.__next__, size_of)
        begin_again, next_index = base._reset, base._next_index

        @functools.wraps(begin_again)
        def reset(self: Any, *arguments: Any, **named: Any) -> Any:
            # The workers of one epoch are kept for the next, and so is the iterator.
            self.__dict__.pop(PASS, None)
            self.__dict__.pop(SIZES, None)
            return begin_again(self, *arguments, **named)

        @functools.wraps(next_index)
        def following_index(self: Any) -> Any:
            index = next_index(self)
            # Batches come in the order in which they are asked for; workers are asked for some ahead.
            self.__dict__.setdefault(SIZES, deque(maxlen=MOST_HELD)).append(_indices(self, index))
            return index

        base._reset, base._next_index = reset, following_index

    def _watching(self) -> Watch:
        if self._watch is None:
            torch = sys.modules["torch"]

            def helping() -> bool:
                worker = sys.modules.get("torch.utils.data._utils.worker")
                return worker is not None and worker._worker_info is not None

            self._watch = Watch("torch", lambda: torch.is_grad_enabled(), helping, lambda it: it._index_sampler)
        return self._watch


def _indices(iterator: Any, index: Any) -> int | None:
    """How many samples a batch has that is fetched by this index: as many as a batch sampler lists, whatever wraps it.

    None where the data set makes the batches, and an index is of one of them.
    """
    batched = getattr(iterator, "_auto_collation", False) or isinstance(index, list)
    try:
        return len(index) if batched else None
    except TypeError:
        return None


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

        def size_of(iterator: Any) -> int | None:
            return named_size(iterator)

        def count(kind: Any) -> None:
            # A program may call either, and an iterator of its own have its own, as that of MXNet's examples has.
            for name, only_main in (("__next__", False), ("next", True)):
                own = vars(kind).get(name)
                if own is not None:
                    setattr(kind, name, counted_next(watch, own, size_of, only_main))

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

        def size_of(iterator: Any) -> int | None:
            return named_size(iterator.sampler)

        class Batches:
            """What a gluon loader's generator yields."""

            def __init__(self, batches: Any, sampler: Any) -> None:
                self._batches = batches
                self.sampler = sampler

            def __iter__(self) -> Any:
                return self

            def __next__(self) -> Any:
                return next(self._batches)

        counted: Any = counted_next(watch, Batches.__next__, size_of)
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
