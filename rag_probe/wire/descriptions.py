"""What every attribute and every span says; the types come from the code (`specimen`)."""

from __future__ import annotations

from typing import Final, NamedTuple

from rag_probe import attributes as a


class Row(NamedTuple):
    """One attribute: its unit or words, and what it says and when it is set."""

    name: str
    unit: str
    about: str
    content: bool = False
    """Whether it leaves with content on only."""


class Section(NamedTuple):
    """The attributes of one kind of span."""

    title: str
    rows: tuple[Row, ...]


class SpanRow(NamedTuple):
    """One kind of span."""

    name: str
    kind: str
    scopes: str
    when: str


BY_HAND: Final = {
    a.INFERRED: "string[]",
    a.NOT_CAPTURED: "string[]",
    a.PARTIAL: "boolean",
    a.BESIDE: "boolean",
    a.PARENT: "string",
    a.AGENT_NAME: "string",
    a.ERROR_TYPE: "string",
}
"""Types of what no stage holds, because it may stand on any span."""

_FRAMEWORKS: Final = "`rag_probe.langchain`, `rag_probe.langgraph`"
_ANY: Final = f"{_FRAMEWORKS}, `rag_probe`"

SPANS: Final = (
    SpanRow("invoke_workflow {name}", "INTERNAL", _FRAMEWORKS, "a chain or graph; the outermost one is the question"),
    SpanRow("invoke_agent {name}", "INTERNAL", _FRAMEWORKS, "an agent; the outermost one is the question"),
    SpanRow("invoke_node {node}", "INTERNAL", _FRAMEWORKS, "one task of a graph's node"),
    SpanRow("retrieval", "INTERNAL", _FRAMEWORKS, "a retriever, or a step that returned passages out of nothing"),
    SpanRow("rag.filter {step}", "INTERNAL", _ANY, "a step that let some of its passages through"),
    SpanRow("rag.permission {step}", "INTERNAL", _ANY, "a step marked or told as a permission check"),
    SpanRow("rag.rerank {step}", "INTERNAL", _ANY, "a step that returned its passages in another order"),
    SpanRow(
        "rag.context {step}", "INTERNAL", _ANY, "a step whose text reappears in a prompt: ids only; or that was told"
    ),
    SpanRow("chat {model}", "CLIENT", _FRAMEWORKS, "a model call; other operations name it `{operation} {model}`"),
    SpanRow("execute_tool {tool}", "INTERNAL", _FRAMEWORKS, "a tool call"),
)

ANY: Final = Section(
    "On any span",
    (
        Row(a.STAGE, "`retrieval` …", "which stage the span is; absent on spans that are none"),
        Row(a.STEP_NAME, "", "the step's name in the app, on retrieval, filter, permission, rerank and context"),
        Row(a.OPERATION, "`retrieval` …", "the GenAI operation, where the conventions have one; else `invoke_node`"),
        Row(a.AGENT_NAME, "", "the workflow's or agent's name"),
        Row(a.ERROR_TYPE, "", "the exception's type, when the step failed; its message stays in with content off"),
        Row(a.INFERRED, "field paths", "what was concluded, not observed, as `answer.outcome`"),
        Row(a.NOT_CAPTURED, "field paths", "what should be here and could not be seen, as `context`"),
        Row(a.PARTIAL, "", "true on a span that its root ended, or whoever stopped reading its stream, and not itself"),
        Row(a.BESIDE, "", "true on a span that was written beside another instrumentation, under its spans"),
        Row(a.PARENT, "hex span id", "beside another instrumentation: the span of ours that this one belongs to"),
    ),
)
ROOT: Final = Section(
    "On the outermost span of a question",
    (
        Row(a.CASE_ID, "", "under `case(...)`, here or in the calling process: the case"),
        Row(a.EXPERIMENT, "", "the experiment that the case is run for"),
        Row(a.CASE_RUN, "hex", "a random id of the `case` block: what belongs to one question"),
        Row(a.REPETITION, "count", "which repetition of the case, when told"),
        Row(a.CONFIGURATION, "", "the name of the configuration under test, when told"),
        Row(a.DATASET_VERSION, "", "of the register of cases, when told"),
        Row(a.CORPUS_VERSION, "", "of the corpus searched, when told"),
        Row(a.CONVERSATION_ID, "", "the thread or session, when the framework has one"),
        Row(a.PAUSED_AT, "", "the checkpoint at which a graph stopped for somebody's word"),
        Row(a.RESUMED_AT, "", "the checkpoint from which it went on: the same question in that thread"),
        Row(a.RESUMED, "", "true: it goes on with an earlier run, and from which checkpoint is not known"),
        Row(a.USER_ID, "", "on whose behalf, when told; never from baggage"),
        Row(a.IDENTITY_TENANT, "", "their tenant, when told"),
        Row(a.USER_ROLES, "", "their roles, when told"),
        Row(a.QUESTION_LENGTH, "characters", "of the question, when it was found in the input"),
        Row(
            a.QUESTION_DIGEST,
            "hex",
            "HMAC-SHA-256 under RAG_PROBE_DIGEST_KEY; plain SHA-256 only with content on, unredacted",
        ),
        Row(a.QUESTION_TEXT, "", "the question", content=True),
        Row(a.ANSWER_OUTCOME, "`answered` `partial` `clarification` `abstained` `error`", "how the question ended"),
        Row(a.ANSWER_CONFIDENCE, "the app's own scale", "when told; higher is surer"),
        Row(a.ANSWER_LENGTH, "characters", "of the answer"),
        Row(a.ANSWER_DIGEST, "hex", "as the question's"),
        Row(a.ANSWER_TEXT, "", "the answer", content=True),
        Row(
            a.CITATION_IDS,
            "ids",
            "what the answer cites, in order; of an unresolved marker its inner text, `text:…` for content",
        ),
        Row(
            a.CITATION_MARKERS,
            "",
            "the markers as written, as `[1]`; of one that holds more than ids and numbers, only with content on",
        ),
        Row(a.CITATION_STARTS, "characters of the answer", "where each marker begins"),
        Row(a.CITATION_ENDS, "characters of the answer", "where it ends, exclusive"),
        Row(a.CITATION_VALID, "", "whether it points into the context that the model saw"),
        Row(a.CITATION_COUNT, "citations", "how many there were: when there were none, or the list is cut"),
        Row(a.VERDICT_PASSED, "", "what validations said of drafts, when told: whether each might go on"),
        Row(a.VERDICT_NODES, "", "the node, or the step, that said it"),
        Row(a.VERDICT_STEPS, "count", "the graph's step"),
        Row(a.VERDICT_LENGTHS, "characters", "of the draft that was judged"),
        Row(a.VERDICT_DIGESTS, "hex", "of the draft, as the question's"),
        Row(a.VERDICT_COUNT, "verdicts", "how many there were, when the list is cut"),
    ),
)
RETRIEVAL: Final = Section(
    "On a retrieval",
    (
        Row(a.RETRIEVAL_IDS, "ids", "the passages returned, in their order; absent when not captured"),
        Row(a.RETRIEVAL_COUNT, "passages", "how many were returned, always beside the ids"),
        Row(a.RETRIEVAL_SCORES, "the retriever's own scale", "a reranker's score comes before the search's"),
        Row(a.RETRIEVAL_DOCUMENTS, "ids", "the source document of each"),
        Row(a.RETRIEVAL_REVISIONS, "", "the revision of each"),
        Row(a.RETRIEVAL_TENANTS, "", "the tenant of each"),
        Row(
            a.RETRIEVAL_ID_RULES,
            "`metadata` `source` …",
            "how each id was found; absent when all are Documents' own",
        ),
        Row(a.RETRIEVAL_PARENTS, "ids", "the passage that a transformed one was made from"),
        Row(a.RETRIEVAL_TEXTS, "", "the passages", content=True),
        Row(a.RETRIEVAL_CANDIDATES, "ids", "what it chose from: nested retrievals"),
        Row(a.RETRIEVAL_CANDIDATES_COUNT, "passages", "how many: when there were none, or the list is cut"),
        Row(a.RETRIEVAL_TOP_K, "passages", "how many were asked for, when told or in the retriever's settings"),
        Row(a.RETRIEVAL_QUERY_LENGTH, "characters", "of the query"),
        Row(a.RETRIEVAL_QUERY_DIGEST, "hex", "as the question's"),
        Row(a.RETRIEVAL_QUERY_TEXT, "", "the query", content=True),
    ),
)
STEPS: Final = Section(
    "On rerank, filter and permission",
    (
        Row(a.RERANK_IDS, "ids", "the passages in their new order"),
        Row(a.RERANK_SCORES, "the reranker's own scale", "their new scores, where known"),
        Row(a.RERANK_COUNT, "passages", "how many: when there were none, or the list is cut"),
        Row(a.FILTER_KEPT, "ids", "what went on"),
        Row(a.FILTER_KEPT_COUNT, "passages", "how many: 0 is a fact; else when the list is cut"),
        Row(a.FILTER_DROPPED, "ids", "what did not"),
        Row(a.FILTER_DROPPED_COUNT, "passages", "how many: when there were none, or the list is cut"),
        Row(a.FILTER_REASONS, "short codes", "why, when told; sentences with content on only"),
        Row(a.PERMISSION_IDS, "ids", "the passages decided on"),
        Row(a.PERMISSION_DECISIONS, "`allow` `deny`", "one for each"),
        Row(a.PERMISSION_REASONS, "short codes", "why, when told; sentences with content on only"),
        Row(a.PERMISSION_POLICY, "", "the policy's version, when told"),
        Row(a.PERMISSION_COUNT, "passages", "how many: when there were none, or the list is cut"),
    ),
)
CONTEXT: Final = Section(
    "On the model call whose prompt it is, and on a context step",
    (
        Row(a.CONTEXT_IDS, "ids", "the passages found in the prompt, in prompt order; absent when not captured"),
        Row(a.CONTEXT_COUNT, "passages", "how many: 0 is a fact; else when the list is cut"),
        Row(a.CONTEXT_TOKENS, "tokens", "of each, by the tokenizer named here or as the budget's"),
        Row(a.CONTEXT_TOKENIZER, "", "what counted them, where it is not the budget's tokenizer"),
        Row(a.CONTEXT_TRUNCATED, "", "whether a part of it is missing"),
        Row(a.CONTEXT_KEPT_START, "characters of the passage", "where a part that survived begins"),
        Row(a.CONTEXT_KEPT_END, "characters of the passage", "where it ends, exclusive"),
        Row(
            a.CONTEXT_KEPT_AT, "places in the ids, from 0", "which passage the part belongs to; several parts repeat it"
        ),
        Row(a.CONTEXT_DUPLICATE_OF, "ids", "the earlier passage that this one repeats"),
        Row(
            a.CONTEXT_DROPPED, "ids", "of the last known set, what is not in the prompt and was given to no other call"
        ),
        Row(a.CONTEXT_DROPPED_COUNT, "passages", "how many, when the list is cut"),
        Row(a.CONTEXT_DROPPED_REASONS, "short codes", "why, when told; sentences with content on only"),
        Row(a.BUDGET_LIMIT, "tokens", "what the context may take, when told"),
        Row(a.BUDGET_USED, "tokens", "what it takes"),
        Row(a.BUDGET_TOKENIZER, "", "which tokenizer counts"),
    ),
)
GENERATION: Final = Section(
    "On a model call",
    (
        Row(a.GENERATION_ROLE, "`answer` `rewrite` …", "what the call was for, when the app says so"),
        Row(a.GENERATION_CACHE_HIT, "", "whether the framework's own cache answered, so that nothing was billed"),
        Row(a.PROVIDER, "", "the provider, by the conventions' names"),
        Row(a.REQUEST_MODEL, "", "the model asked for"),
        Row(a.RESPONSE_MODEL, "", "the model that answered"),
        Row(a.FINISH_REASONS, "", "why it stopped, one per output"),
        Row(a.INPUT_TOKENS, "tokens", "as billed, cached ones included; absent when the provider says nothing"),
        Row(a.OUTPUT_TOKENS, "tokens", "as billed, reasoning included"),
        Row(a.CACHE_READ_TOKENS, "tokens", "of the input, read from the provider's cache"),
        Row(a.CACHE_WRITE_TOKENS, "tokens", "of the input, written to it"),
        Row(a.REASONING_TOKENS, "tokens", "of the output"),
        Row(a.PROMPT_LENGTH, "characters", "of the whole prompt"),
        Row(a.PROMPT_DIGEST, "hex", "as the question's"),
        Row(a.INPUT_MESSAGES, "JSON", "the prompt", content=True),
        Row(a.OUTPUT_LENGTH, "characters", "of the first output"),
        Row(a.OUTPUT_DIGEST, "hex", "as the question's"),
        Row(a.OUTPUT_MESSAGES, "JSON", "the output", content=True),
    ),
)
NODE: Final = Section(
    "On a tool call and on a graph's node",
    (
        Row(a.TOOL_NAME, "", "the tool"),
        Row(a.TOOL_CALL_ID, "", "the id of the call that asked for it"),
        Row(a.NODE_NAME, "", "the node"),
        Row(a.NODE_STEP, "count", "the graph's step"),
        Row(a.NODE_TASK_ID, "", "the task; an interrupted and resumed one keeps it"),
        Row(a.NODE_CHECKPOINT_ID, "", "the checkpoint that its task ran on, where that is known"),
        Row(a.NODE_CHECKPOINT_NS, "", "the namespace of its graph or subgraph"),
        Row(a.NODE_ATTEMPT, "count from 1", "which attempt, when the node is retried"),
        Row(
            a.NODE_OUTCOME,
            "`ok` `no_write` `interrupted` `answered` `error` `recovered` `pending`",
            "how the task ended; an interrupt is no error",
        ),
    ),
)

SECTIONS: Final = (ROOT, RETRIEVAL, STEPS, CONTEXT, GENERATION, NODE, ANY)
