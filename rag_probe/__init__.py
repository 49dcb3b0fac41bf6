"""What an app and the evaluator both speak: stages, their attributes, and the evidence path."""
