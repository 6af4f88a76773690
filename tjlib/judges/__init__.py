"""Judges that read a trajectory and say whether it is faulty.

Decision: a model judge is a prompt (`prompts`), a model (`models`) and a way
to read its reply (`answer`), each replaceable without the others; the reply
judge (`reply`) needs no model. Refusal: no judge is given a label, and no
reply that fails becomes a judgement.
"""
