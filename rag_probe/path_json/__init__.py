"""The path JSON of contracts 2: `to_json` and `from_json` are inverses on what the JSON holds."""

from rag_probe.path_json.read import from_json
from rag_probe.path_json.reader import Json, Object, PathFormatError
from rag_probe.path_json.write import SCHEMA, instant, to_json

__all__ = ["SCHEMA", "Json", "Object", "PathFormatError", "from_json", "instant", "to_json"]
