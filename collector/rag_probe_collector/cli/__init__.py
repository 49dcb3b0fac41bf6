"""The command line. One command, one module; a command is imported when it is called."""

from rag_probe_collector.cli.main import main

__all__ = ["main"]
