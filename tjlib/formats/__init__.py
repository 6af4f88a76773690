"""Other people's logs as trajectories: one module a format, one registry of them all.

Decision: a format is recognised by what a log says, never by its file's name.
Refusal: nothing is imported here, so that the registry is the one place that
knows every format.
"""
