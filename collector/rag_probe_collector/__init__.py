"""OTLP in, traces rebuilt, cases scored, reports out."""
