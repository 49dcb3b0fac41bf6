"""The reviews' file: bound to answers, valid, none twice."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.listing import Item, read_listing
from rag_probe_collector.register.review import Review
from rag_probe_collector.register.review_rules import faults
from rag_probe_collector.register.validate import Shape

_SHAPE: Final = Shape(Review, "review of case", "case_id")


def load_reviews(path: Path) -> tuple[Review, ...]:
    """Every review of the file; none is fine. Raises `InputError`."""
    listing = read_listing(path, "reviews", "rag-probe.reviews/1")
    seen: dict[tuple[str | None, ...], str] = {}
    reviews: list[Review] = []
    for item in listing.items:
        review = _review(item)
        key = (review.case_id, review.experiment, review.path_id, review.answer_digest, review.reviewer)
        if key in seen:
            raise InputError(f"{_SHAPE.place(item)}: expected one review per answer and reviewer, as at {seen[key]}")
        seen[key] = item.place
        reviews.append(review)
    return tuple(reviews)


def _review(item: Item) -> Review:
    review, place = _SHAPE.read(item), _SHAPE.place(item)
    for written, meant in _SHAPE.misspelt(item.value):
        raise InputError(
            f"{place}: expected the field {meant!r}, got {written[:80]!r}; no review counts for more than it says"
        )
    problem = next(faults(review), None)
    if problem is not None:
        raise InputError(f"{place}: {problem}")
    if review.path_id is None and review.answer_digest is None:
        raise InputError(
            f"{place}: answer_digest: expected path_id or answer_digest; it binds the review to its answer"
        )
    return review
