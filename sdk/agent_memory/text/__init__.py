"""Text: normalisation, sentences, figures, names, dates and similarity. Pure functions."""
