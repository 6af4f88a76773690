"""Uncertainty of a run, from what its log holds: section 4 of the RUPA paper.

Decision: the equations as printed are one method, each input they leave open
is an option with our reading as its default, and what stands on a page as
published is told apart from what is ours. Refusal: no label is seen here, and
no score of a step looks at what came after it.
"""
