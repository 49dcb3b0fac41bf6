"""How a question's spans are written: by the only instrumentation, or beside another one."""

from __future__ import annotations

from rag_probe_langchain.writing.beside import WriterBeside
from rag_probe_langchain.writing.writer import Writer

__all__ = ["Writer", "WriterBeside"]
