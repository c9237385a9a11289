"""Operations on shared numbers for loops that run in several threads at once."""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_CODE: Any = cgutils  # without annotations


def _atomic(operation: str) -> Any:
    @intrinsic
    def change(typing_context: Any, board: Any, place: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            pointer = _CODE.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)
            return builder.atomic_rmw(operation, pointer, args[2], "seq_cst")

        return types.int64(board, types.int64, types.int64), code

    return change


added, swapped = _atomic("add"), _atomic("xchg")  # both return the number before the change


def _give_way(typing_context: Any) -> Any:
    """Let another thread run."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        return builder.call(_CODE.get_or_insert_function(builder.module, kind, name), [])

    return types.int32(), code


give_way: Any = intrinsic(_give_way)
