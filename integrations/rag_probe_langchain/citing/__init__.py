"""What an answer points at: `find_citations`."""
