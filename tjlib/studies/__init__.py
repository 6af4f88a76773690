"""What single chapters are computed with.

Decision: a chapter's own question is worked out here, from the parts that every chapter shares.
Refusal: nothing else in tjlib imports a study.
"""
