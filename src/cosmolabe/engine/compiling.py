"""How rules and drawing are compiled, and how a driver gets hold of them."""

from collections.abc import Callable
from functools import cache, wraps

from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

rule = njit(cache=True, error_model="numpy", _nrt=False)
"""Compiles a function that only reads and writes the arrays it is given.

Without numba's reference counting (atomic, and paid at every inner call) pong's rules run eight
times as fast; the price is that a rule may not allocate. Division by zero gives inf or NaN, as
IEEE says and as numpy does uncompiled.
"""

inlined = njit(cache=True, error_model="numpy", _nrt=False, forceinline=True)
"""A rule so small that a call of it, with the dozen words of an array, costs more than its work."""


@cache
def address_of(rule, kind):
    """Where the compiled code of a rule lies, for a kernel that takes it with `taken_as`.

    Handing over the rule itself costs some 50 us a call: numba asks Python for this each time.
    """
    if config.DISABLE_JIT:  # ty: ignore[missing-attribute] - numba makes it as it starts
        return rule
    compiled = rule.get_compile_result(kind.signature)
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def taken_as(kind):
    """A function for kernels that makes an address callable as this kind of function."""
    if config.DISABLE_JIT:  # ty: ignore[missing-attribute] - numba makes it as it starts
        return lambda rule: rule

    @intrinsic
    def take(typing, address):
        def generate(context, builder, signature, arguments):
            function = cgutils.create_struct_proxy(kind)(context, builder)
            place = builder.inttoptr(arguments[0], cgutils.voidptr_t)
            function.c_addr = place
            function.jit_addr = place
            function.py_addr = context.get_constant_null(types.voidptr)
            return function._getvalue()

        return kind(types.int64), generate

    return take


def driver(*kinds) -> Callable:
    """Lets callers hand rules to a compiled function that wants their addresses.

    The compiled function's first arguments are addresses, one a kind; it makes them callable by
    `taken_as`. Handing over the rules as first-class functions costs some 50 us a call.
    """

    def wrap(compiled) -> Callable:
        @wraps(getattr(compiled, "py_func", compiled))
        def call(*arguments):
            count = len(kinds)
            rules = map(address_of, arguments[:count], kinds)
            return compiled(*rules, *arguments[count:])

        return call

    return wrap
