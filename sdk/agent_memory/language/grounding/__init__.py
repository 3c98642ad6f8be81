"""Checks that what a model answers was said: nothing is believed only because a model wrote it.

`ground` checks a whole answer, `support` the words of one memory. Each other module finds one kind of fault, or reads
what the others compare: `clauses` the talk, `measures` figures, `said_dates` times, `said_names` names.

The modules share these words:

- A *claim* is what a memory of the model says (`content`). The *talk* is the turns that it cites (`cited`) and those
  just before them (`before`); `quoted` are the sentences that it quotes.
- *Telling* words carry the content. Claims and clauses are compared by the stems of these.
- The *homes* of a claim are the clauses of the talk that share most telling words with it: its likely sources.
- The *speaker* is who said a turn: a first name in small letters, or "user". The *party* or *bearer* of a clause is the
  person whom it is about; its *owner* is the person whose relative or thing is meant.

A check returns why a claim is refused, as a few words that go into the log ("nobody said Oslo"), or None.
"""
