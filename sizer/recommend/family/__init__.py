"""The few shapes that serve many workloads at least cost: pure, from tables of candidates and prices to a `Family`.

`fleet.py` says what can be built and what each workload pays on it, `parts.py` what an hour of it costs, `choice.py`
which shapes make the sum least and what is told of them.
"""
