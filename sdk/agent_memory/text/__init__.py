"""Text: normalisation, sentences, figures, names, dates and likeness. Pure functions."""
