"""Pure: Model x catalogue x Objective -> Recommendation, with the reasons and the rejected."""
