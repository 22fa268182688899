"""What all programs of the laboratory do alike: read arguments, refuse bad ones, stop on Ctrl-C.

    @cli.main
    def main(settings: Settings) -> None: ...

    if __name__ == "__main__":
        main()

Exit codes: 0; 2 for what was refused, with one sentence on stderr; 130 after Ctrl-C, with one line;
1 and a traceback for a fault of ours.
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, get_type_hints

import tyro

REFUSED = 2
INTERRUPTED = 130

_OURS = ("__main__", "agents", "poke_env", "training")


def main(function: Callable[[Any], None]) -> Callable[..., None]:
    """Make a program of a function of one settings object, a dataclass that tyro fills.

    The program takes a list of arguments, by default those of the process.
    """
    [settings] = [kind for name, kind in get_type_hints(function).items() if name != "return"]

    @functools.wraps(function)
    def program(arguments: Sequence[str] | None = None) -> None:
        spec = function.__globals__["__spec__"]
        with stopping():
            function(
                tyro.cli(
                    settings,
                    prog=f"python -m {spec.name.removesuffix('.__main__')}" if spec else None,
                    args=arguments,
                    config=(tyro.conf.FlagCreatePairsOff,),
                )
            )

    return program


@contextmanager
def stopping() -> Iterator[None]:
    """Turn refusals and Ctrl-C into one line on stderr and an exit code.

    A refusal is an OSError, or a ValueError raised in a module of this project, whose checks say
    in a sentence what is wrong. A ValueError from deeper down is a fault of ours and passes.

    Raises:
        SystemExit: 2 after a refusal, 130 after Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        _exit(INTERRUPTED, str(error) or "interrupted")
    except (ValueError, OSError) as error:
        if not isinstance(error, OSError) and not is_check(error):
            raise
        _exit(REFUSED, f"error: {describe(error)}")


def is_check(error: ValueError) -> bool:
    """Whether a module of this project itself raised the error: what it says is a refusal."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] in _OURS


def describe(error: BaseException) -> str:
    """An error as one line, without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror:
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        return ": ".join([error.strerror, *names])
    return " ".join(str(error).split())


def _exit(code: int, line: str) -> NoReturn:
    print(line, file=sys.stderr)
    sys.exit(code)
