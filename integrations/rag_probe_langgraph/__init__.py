"""LangGraph: interrupts, resumes and checkpoints."""
