"""Judges: they look at a trajectory and return a verdict, and never see a label.

`reply` reads the final answer against what the tools brought back; it is made
of `wording` (text into sentences and stems), `entities` (what a sentence
asserts), `evidence` (what a trajectory holds) and `similarity` (how close two
texts are). Import the module you need; nothing is re-exported.
"""
