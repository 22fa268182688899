"""The project's compiler switch: numba with a disk cache that notices edits in other modules.

numba keys a cached function by the file that defines it. A loop in one module that calls a rule
in another would therefore go on running yesterday's rule. Here the key is made from the sources
of every module the function can reach, so that an edit anywhere in them compiles anew, and an
unchanged tree compiles nothing. Only functions decorated with `compiled` are affected; numba's
own settings and the functions of other packages are left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent


@cache
def sources_digest(*places: Path) -> str:
    """Hexadecimal digest of the names and contents of files, and of all modules below folders."""
    digest = hashlib.blake2b(digest_size=16)
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(f"{path.relative_to(place.parent).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class _StampedBySources:
    """Cache-locator mixin: fresh only while no source the function can reach has changed."""

    _py_file: str

    def get_source_stamp(self) -> str:
        file = Path(self._py_file).resolve()
        if file.is_relative_to(PACKAGE):
            return sources_digest(PACKAGE)
        in_package = (file.parent / "__init__.py").exists()
        return sources_digest(PACKAGE, file.parent if in_package else file)


class _UserProvided(_StampedBySources, caching.UserProvidedCacheLocator):
    pass


class _InTree(_StampedBySources, caching.InTreeCacheLocator):
    pass


class _UserWide(_StampedBySources, caching.UserWideCacheLocator):
    pass


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_UserProvided, _InTree, _UserWide]


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl


def compiled(function: F) -> F:
    """Compile `function` with numba (no GIL held) and keep the machine code on disk.

    Under `NUMBA_DISABLE_JIT=1` the function is returned as it is.
    """
    return _compile(function)


def inlined(function: F) -> F:
    """Compile `function` into its callers: for what is small and called for every decision.

    A call between compiled functions hands records and arrays over piece by piece, which costs
    more than a short function does.
    """
    return _compile(function, forceinline=True)


def _compile(function: F, *, forceinline: bool = False) -> F:
    dispatcher = numba.njit(nogil=True, forceinline=forceinline)(function)
    if dispatcher is not function:
        # numba finds no locator where nothing can be written: then every start compiles.
        with contextlib.suppress(RuntimeError):
            cast(Any, dispatcher)._cache = cast(Any, _Cache)(function)
    return cast(F, dispatcher)
