"""A notebook: cells run again, in a loop that runs already, with errors between them (issue B, contracts 4)."""

from __future__ import annotations

import json

import pytest

from .arrived import Arrived
from .programs import ran

pytestmark = pytest.mark.slow

CELLS = [
    """
    from rag_probe import configure
    from rag_probe_langchain import RagProbeCallbackHandler
    from tests.rag_probe_langchain.apps import rag
    telemetry = configure("desk")
    chain = rag()
    handler = RagProbeCallbackHandler()
    config = {"callbacks": [handler]}
    chain.invoke("first", config)
    """,
    # the same cell again, changed
    """
    assert configure("desk", keep_cases=False) is telemetry
    assert configure("store") is telemetry
    assert configure("shop", join=True) is telemetry
    handler = RagProbeCallbackHandler()
    chain.invoke("second", {"callbacks": [handler]})
    """,
    # a handler bound to the chain, and another one passed by hand
    """
    bound = chain.with_config({"callbacks": [RagProbeCallbackHandler()]})
    bound.invoke("third", {"callbacks": [RagProbeCallbackHandler(), handler]})
    """,
    "1 / 0",
    """
    def broken(found):
        raise RuntimeError("theirs")
    rag(steps=broken).invoke("fails", config)
    """,
    """
    stream = chain.stream("abandoned", config)
    next(stream)
    del stream
    """,
    # the notebook's own loop
    """
    import asyncio
    await chain.ainvoke("awaited", config)
    await asyncio.gather(chain.ainvoke("left", config), chain.ainvoke("right", config))
    task = asyncio.ensure_future(chain.ainvoke("over cells", config))
    """,
    "await task",
    """
    import importlib, rag_probe.tracing, rag_probe.provider, rag_probe_langchain.runs, rag_probe_langchain.handler
    for module in (rag_probe.tracing, rag_probe.provider, rag_probe_langchain.runs, rag_probe_langchain.handler):
        importlib.reload(module)
    assert rag_probe.tracing.configure("desk") is telemetry
    reloaded = rag_probe_langchain.handler.RagProbeCallbackHandler()
    chain.invoke("reloaded", {"callbacks": [handler, reloaded]})
    """,
    """
    import sys
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("rag_probe")]:
        del sys.modules[name]
    import rag_probe, rag_probe_langchain
    assert rag_probe.configure("desk") is telemetry
    chain.invoke("imported again", {"callbacks": [rag_probe_langchain.RagProbeCallbackHandler()]})
    """,
    "assert telemetry.flush(100)",
]
"""As they are run one after the other in one kernel."""

ASKED = ["first", "second", "third", "abandoned", "awaited", "left", "right", "over cells", "reloaded"]

KERNEL = """
    import ast, asyncio, inspect, json, logging, sys, textwrap
    logging.basicConfig(format="%(name)s: %(message)s")
    names = {}

    async def kernel():
        for cell in json.loads(sys.argv[1]):
            try:
                code = compile(textwrap.dedent(cell), "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                result = eval(code, names)
                if inspect.iscoroutine(result):
                    await result
            except Exception as error:
                print("cell:", type(error).__name__, error)

    asyncio.run(kernel())
"""


def test_nothing_is_doubled_lost_or_said_twice(arrived: Arrived) -> None:
    said = ran(KERNEL, arrived.environment(), json.dumps(CELLS))
    assert [line for line in said.splitlines() if line] == [
        "rag_probe: configure('store'): this process exports as 'desk' until it ends",
        "cell: ZeroDivisionError division by zero",
        "cell: RuntimeError theirs",
    ]
    assert arrived.questions() == sorted([*ASKED, "fails", "imported again"])
    spans = arrived.spans()
    assert len({(span.trace_id, span.span_id) for span in spans}) == len(spans)
    assert len([span for span in spans if span.name == "invoke_workflow returns desk"]) == len(arrived.questions())
