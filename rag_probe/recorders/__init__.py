"""What a `stage` block hands out: it notes what the app says, and is then the stage.

An id is a text or anything that has one (`identifier_of`). What cannot be noted is said once in the log and left out;
no value makes a recorder raise.
"""

from rag_probe.recorders.context import ContextRecorder
from rag_probe.recorders.filter import FilterRecorder
from rag_probe.recorders.permission import PermissionRecorder
from rag_probe.recorders.recorder import ID_KEYS, Recorder
from rag_probe.recorders.rerank import RerankRecorder

__all__ = ["ID_KEYS", "ContextRecorder", "FilterRecorder", "PermissionRecorder", "Recorder", "RerankRecorder"]
