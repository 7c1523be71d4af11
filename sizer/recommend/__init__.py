"""What to rent: pure, from a model, a catalogue and an objective to the answer, with its reasons and what was rejected.

`candidates.py` and `sizes.py` say what could be the answer, `rule.py` which of it is (P >= 0.9), `edges.py` where
measuring stopped, `reasons.py` why; `answer.py` puts one answer together, `recommendation.py` those of a study.
"""
