"""What is wrapped in LangChain when nobody may change the app; undone by `uninstrument`."""
