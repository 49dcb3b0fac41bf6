"""What stops a command: bad input is one line and exit 2, never a traceback and never a partial pass.

InputError      a file, an argument or a value that cannot be used (this module)
SourceError     a source that cannot be read (`rag_probe.protocols`)
"""

from __future__ import annotations


class InputError(Exception):
    """One line: the file, the place in it (line, case id, field), what was expected, how to mend it."""
