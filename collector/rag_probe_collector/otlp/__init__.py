"""OTLP as others write it: the JSON encoding, in its own words and in those that backends answer with."""
