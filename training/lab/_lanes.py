"""Four numbers of a row at once: what numba's compiler does not find by itself in short loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WIDTH = 4


def _add_four(
    typing: Any, total: Any, place: Any, weight: Any, row: Any, start: Any
) -> tuple[Any, Any]:
    """`total[place : place + 4] += weight * row[start : start + 4]`, unchecked.

    Args:
        total, row: contiguous arrays of float64, of any shape; indices count as if they were flat.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total_at = _address(context, builder, signature, arguments, 0)
        row_at = _address(context, builder, signature, arguments, 3)
        weights = _repeat(context, builder, signature.args[2], arguments[2])
        product = builder.fmul(weights, builder.load(row_at, align=_ALIGN), flags=["contract"])
        total_now = builder.load(total_at, align=_ALIGN)
        builder.store(builder.fadd(total_now, product, flags=["contract"]), total_at, align=_ALIGN)
        return context.get_dummy_value()

    return types.none(total, place, weight, row, start), generate


def _choose_four(
    typing: Any,
    best: Any,
    place: Any,
    weight: Any,
    value: Any,
    start: Any,
    chosen: Any,
    choice: Any,
) -> tuple[Any, Any]:
    """Where `weight * value[start : start + 4]` exceeds `best[place : place + 4]`, write it there
    and `choice` into `chosen[place : place + 4]`, unchecked.

    Args:
        best, value, chosen: contiguous arrays of float64, as for `add_four`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        best_at = _address(context, builder, signature, arguments, 0)
        value_at = _address(context, builder, signature, arguments, 3)
        chosen_at = _address(context, builder, signature, [*arguments[:6], arguments[1]], 5)
        weights = _repeat(context, builder, signature.args[2], arguments[2])
        choices = _repeat(context, builder, signature.args[6], arguments[6])
        value = builder.fmul(weights, builder.load(value_at, align=_ALIGN))
        now = builder.load(best_at, align=_ALIGN)
        better = builder.fcmp_ordered(">", value, now)
        builder.store(builder.select(better, value, now), best_at, align=_ALIGN)
        other = builder.load(chosen_at, align=_ALIGN)
        builder.store(builder.select(better, choices, other), chosen_at, align=_ALIGN)
        return context.get_dummy_value()

    return types.none(best, place, weight, value, start, chosen, choice), generate


# As they are called: without `typing`.
add_four: Callable[..., None] = intrinsic(_add_four)
choose_four: Callable[..., None] = intrinsic(_choose_four)

_ALIGN = 8
_FOUR = ir.VectorType(ir.DoubleType(), WIDTH)


def _address(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    """Where four numbers of the array argument `which` begin; the next argument is their index."""
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    return builder.bitcast(builder.gep(array.data, [arguments[which + 1]]), _FOUR.as_pointer())


def _repeat(context: Any, builder: Any, number_type: Any, number: Any) -> Any:
    """A number four times."""
    lane = ir.IntType(32)
    number = context.cast(builder, number, number_type, types.float64)
    first = builder.insert_element(ir.Constant(_FOUR, ir.Undefined), number, lane(0))
    zeros = ir.Constant(ir.VectorType(lane, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(_FOUR, ir.Undefined), zeros)
