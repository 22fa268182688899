"""Worker processes, started anew ("spawn"), that end with the one that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any


@contextlib.contextmanager
def worker_pools(
    number: int, workers: int, start: Callable[..., None], *arguments: Any
) -> Iterator[Sequence[ProcessPoolExecutor]]:
    """Pools of worker processes; a block that is left early kills them, whatever they do.

    Args:
        number: of pools.
        workers: processes in each.
        start: called in a new worker with `arguments`, all of which can be pickled.

    Raises:
        ChildProcessError: if a worker died.
    """
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pools = [_Pool(workers, context, _start_worker, (start, arguments)) for _ in range(number)]
    finished = False
    try:
        yield pools
        finished = True
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "a worker process died (killed, out of memory, or ended by what it ran); what was "
            "finished is kept"
        ) from error
    finally:
        if not finished:
            # Not asked to stop: what a worker does may never end.
            for worker in set(multiprocessing.active_children()) - others:
                worker.kill()
        for pool in pools:
            pool.shutdown(wait=finished, cancel_futures=True)


class _Pool(ProcessPoolExecutor):
    def submit(self, *arguments: Any, **more: Any) -> Future[Any]:
        with _deaf():  # this may start a process
            return super().submit(*arguments, **more)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Put Ctrl-C off, and have processes that are started here not hear it at all.

    It is for the one that started them. A process that is half started when it comes would be
    known to nobody, and could not be ended.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    heard: list[int] = []
    # The mask is what new processes inherit. Here it is not enough: another thread may get the
    # signal, and Python passes it on.
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _start_worker(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it was not put off for good
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start(*arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
