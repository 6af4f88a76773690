"""Sentences of the judging paper put on trial: a computation and a rule for each.

Decision: a claim is a question, a function of the loaded data that returns
named statistics, and a rule that turns those statistics, and nothing else,
into one of four verdicts; so a verdict follows from printed numbers and
changes with the data. Refusal: no file is opened here, no verdict is written
by hand, and what the data do not hold is said to be untestable, not guessed.
"""
