"""The few shapes that serve many workloads at least cost: pure, from tables of candidates and prices to a `Family`.

`shapes.py` says what can be built and what an hour of it costs, `fleet.py` what each workload pays on each shape,
`location.py` which shapes make the sum least, `choice.py` what is told of them.
"""
