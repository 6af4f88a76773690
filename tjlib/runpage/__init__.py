"""Somebody's runs as one page: what it says, where its lines stand, how it is written.

Decision: `summary` counts, `opened` lays a run out, `page` writes; a template
holds all markup. Refusal: nothing here ranks by anything but a score of
`tjlib.uncertainty.methods`.
"""
