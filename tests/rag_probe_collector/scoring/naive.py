"""Section C of the checklist said again, as plainly as it is written there, knowing nothing of the scorer."""

from __future__ import annotations


def naive(case: dict, result: dict) -> dict:
    allowed, gold = case["allowed_ids"], case["gold_ids"]
    retrieved, prompt, citations = result["retrieved_ids"], result["prompt_ids"], result["citations"]
    review = result["review"]
    answered = any(not character.isspace() for character in result["answer"])
    violations = []
    # 28 scope_leak: anything retrieved, prompted or cited that is not allowed.
    if [each for each in retrieved + prompt + citations if each not in allowed]:
        violations.append("scope_leak")
    # 29 prompt ⊄ retrieved
    if [each for each in prompt if each not in retrieved]:
        violations.append("prompt_outside_retrieval")
    # 30 citations ⊄ prompt
    if [each for each in citations if each not in prompt]:
        violations.append("invalid_citation")
    # 31 answered ≠ has citations
    if answered != (len(citations) > 0):
        violations.append("answer_evidence_mismatch")
    # 32, 33
    if answered and not case["answerable"]:
        violations.append("should_abstain")
    if not answered and case["answerable"]:
        violations.append("false_abstention")
    # 34 answered and no review
    if answered and review is None:
        violations.append("review_pending")
    # 36, 37: null when unanswered or pending
    fraction = None
    if answered and review is not None:
        fraction = review["supported_claims"] / review["total_claims"]
        if review["supported_claims"] != review["total_claims"]:
            violations.append("unsupported_claim")
    # 39: null without gold
    return {
        "id": case["id"],
        "segment": case["segment"],
        "evidence_recall": len([each for each in gold if each in retrieved]) / len(gold) if gold else None,
        "prompt_evidence_recall": len([each for each in gold if each in prompt]) / len(gold) if gold else None,
        "supported_fraction": fraction,
        "abstention_correct": answered == case["answerable"],
        "violations": violations,
    }


def naive_gate(rows: list[dict], minimum: float = 0.9) -> bool:
    """49: any violation fails; mean evidence recall in each segment that has answerable cases."""
    if any(row["violations"] for row in rows):
        return False
    for segment in {row["segment"] for row in rows}:
        recalls = [
            row["evidence_recall"] for row in rows if row["segment"] == segment and row["evidence_recall"] is not None
        ]
        if recalls and sum(recalls) / len(recalls) < minimum - 1e-9:
            return False
    return True
