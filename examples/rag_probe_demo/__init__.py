"""Two small apps that a RAG engineer would recognise."""
