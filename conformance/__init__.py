"""The conformance kit: what an LLM adapter owes its caller, judged offline.

The runner knows neither pytest nor click; ``cli``, ``plugin`` and ``suite`` stand on top of it.
"""
