"""An agent that draws several calls and takes the one a score likes best.

Decision: every rule of choice is given the same candidates, so that two of them differ by what
they took and by nothing else. Refusal: no rule sees the case's hidden facts or an outcome;
`outcomes` alone knows what was right, and nothing that chooses imports it.
"""
