"""The shipped reviews judge the answers that the apps give, over the evidence that they had."""

from __future__ import annotations

from rag_probe.path import EvidencePath
from rag_probe_collector.register.reviews import load_reviews
from rag_probe_collector.scoring import answer_digests, evidence_version
from rag_probe_demo.corpus import DATA
from tests.sample_apps import KEY

REVIEWS = {review.case_id: review for review in load_reviews(DATA / "reviews.yaml")}
UNREVIEWED = {"unreviewed"}


def test_each_review_is_bound_to_its_answer_and_evidence(paths: dict[str, EvidencePath]) -> None:
    """checklist 47; after a change of script or corpus, read the answer again and take over what this shows."""
    shipped = {name: (review.answer_digest, review.evidence_version) for name, review in REVIEWS.items()}
    now = {name: (*answer_digests(paths[name], KEY), evidence_version(paths[name])) for name in REVIEWS}
    assert shipped == now


def test_every_answer_but_one_is_reviewed(paths: dict[str, EvidencePath]) -> None:
    answered = {name for name, path in paths.items() if path.answer is not None and path.answer.outcome == "answered"}
    assert answered - UNREVIEWED == REVIEWS.keys()


def test_claims_cite_what_their_answer_cites(paths: dict[str, EvidencePath]) -> None:
    for name, review in REVIEWS.items():
        citations = paths[name].citations
        assert citations is not None
        assert {claim.cited_span_id for claim in review.claims or () if claim.cited_span_id} == set(citations.ids)
