"""What every test shares."""

from hypothesis import settings

# A deadline on a shared machine with two cores says something about the neighbours, not about the code.
settings.register_profile("rag-probe", deadline=None)
settings.load_profile("rag-probe")
