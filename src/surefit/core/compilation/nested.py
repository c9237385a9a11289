"""Compilation of the functions that compiled functions call, as parts of their callers.

Numba optimizes a function and generates its machine code before it compiles the caller, and the caller contains that
code again. In a chain of calls, the innermost function is therefore optimized once per level, and every level has
wrappers for calls from Python that nobody uses. Here a called function is only typed and lowered. Its code is linked
into the function that Python calls, and is optimized there once.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.entrypoints import init_all
from numba.core.typed_passes import NativeLowering

from surefit.core.compilation.settings import compilation

WRAPPER = "_ZN7cpython"  # start of the mangled name of a wrapper for calls from Python


class Part(JITCodeLibrary):
    """Code of a function before optimization, to be linked into callers."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class Whole(JITCodeLibrary):
    """Code of a function that Python calls."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Add a module; the wrapper that reads Python objects is not optimized, which saves more than it would gain."""
        for function in ir_module.functions:
            if function.name.startswith(WRAPPER) and not function.is_declaration:
                function.attributes.add("noinline")  # required by the next one
                function.attributes.add("optnone")
        super().add_ir_module(ir_module)

    def serialize_using_object_code(self) -> Any:
        """Return the machine code and, in place of the LLVM code, a module that declares no more than the wrapper.

        Numba keeps LLVM code to link it into callers. Callers contain the :class:`Part` instead.
        """
        names = [function.name for function in self.get_defined_functions() if function.name.startswith(WRAPPER)]
        empty = str(self._codegen._create_empty_module(self.name))
        module = binding.parse_assembly(empty + "".join(f'\ndefine i64 @"{name}"() {{ ret i64 0 }}' for name in names))
        return self.name, "object", (self._get_compiled_object(), module.as_bitcode())


@register_pass(mutates_CFG=False, analysis_only=False)
class LowerPart(NativeLowering):
    """Lowering of a function that only compiled functions call."""

    _name = "lower_part"

    def run_pass(self, state: Any) -> bool:
        """Lower a function to a :class:`Part` and make it known to its callers."""
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        module, name = lowered.fndesc.lookup_module(), lowered.fndesc.qualname
        key = _dynfunc.make_function(module, name, "", 0, lowered.env, (state.library,))  # callers find the code by it
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class LowerWhole(NativeLowering):
    """Lowering of a function that Python calls."""

    _name = "lower_whole"

    def run_pass(self, state: Any) -> bool:
        """Lower a function and its wrapper for Python."""
        state.flags.no_cpython_wrapper = False
        state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class _Compiler(CompilerBase):
    """Numba's default pipeline with another lowering."""

    lowering: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Numba compiles a verb once per set of flags of its callers, so the flags of all callers are the same.
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        self.state.flags.release_gil = True

    def compile_extra(self, func: Any) -> Any:
        """Compile a function with the extensions of Numba; the NumPy functions that it calls become parts, too."""
        init_all()
        with compilation(PartCompiler):
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = PassManager("surefit")
        passes.passes = [(self.lowering if step is NativeLowering else step, why) for step, why in usual.passes]
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    """Compiler of functions that compiled functions call."""

    lowering = LowerPart


class WholeCompiler(_Compiler):
    """Compiler of functions that Python calls."""

    lowering = LowerWhole
