"""The support desk of the judging paper, section 3 and appendices A to C.

`world` acts and knows no rules, `oracle` solves every instance, `faults`
breaks one thing at one step, `rules` checks strictly, and `testbed` puts the
labelled set together. Import the module you need; nothing is re-exported.
"""
