"""The register: labelled cases, the corpus they were written against, reviews and thresholds, from files."""

from rag_probe_collector.register.case import Case, Passage, Register, Requirement, Selector, Split
from rag_probe_collector.register.cases import load_cases, vanished
from rag_probe_collector.register.corpus import Corpus, Entry, load_corpus
from rag_probe_collector.register.load_thresholds import load_thresholds
from rag_probe_collector.register.review import Claim, Review
from rag_probe_collector.register.reviews import load_reviews
from rag_probe_collector.register.route import follows
from rag_probe_collector.register.thresholds import VIOLATIONS, Bound, Thresholds, Violation, Waiver
from rag_probe_collector.register.visible import visible

__all__ = [
    "VIOLATIONS",
    "Bound",
    "Case",
    "Claim",
    "Corpus",
    "Entry",
    "Passage",
    "Register",
    "Requirement",
    "Review",
    "Selector",
    "Split",
    "Thresholds",
    "Violation",
    "Waiver",
    "follows",
    "load_cases",
    "load_corpus",
    "load_reviews",
    "load_thresholds",
    "vanished",
    "visible",
]
