"""Checks that what a model answers was said: nothing is believed because a model wrote it.

`ground` checks a whole answer, `support` the words of one memory. Each other module finds one kind of fault, or reads
what the others compare: `clauses` the talk, `measures` figures, `said_dates` times, `said_names` names.
"""
