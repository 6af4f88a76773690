"""Judges that read a trajectory and say whether it is faulty.

Decision: a judge is a prompt, a model and a way to read its reply, each
replaceable without the others. Refusal: no judge is given a label, and no
reply that fails becomes a judgement.
"""
