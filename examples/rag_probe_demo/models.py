"""Which chat model answers."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from rag_probe_demo.scripted import ScriptedChatModel, load_script


class ModelUnavailable(Exception):  # noqa: N818 - it is no error of the model's
    """One line: why there is no such model here, and what to install or set."""


def chat_model(name: str | None) -> BaseChatModel:
    """The scripted model, or a real one by `provider:name`; raises `ModelUnavailable`."""
    if name is None:
        return ScriptedChatModel(script=load_script())
    try:
        from langchain.chat_models import init_chat_model
    except ModuleNotFoundError as error:
        raise ModelUnavailable("a real model needs the package langchain: pip install langchain") from error
    try:
        return init_chat_model(name, temperature=0)
    except Exception as error:  # each provider has its own: a package, a key or a name is missing
        raise ModelUnavailable(f"{name}: {str(error).strip().partition(chr(10))[0]}") from error
