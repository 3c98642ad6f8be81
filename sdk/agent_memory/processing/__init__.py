"""Background processing: steps that derive memories from turns, the workflows they form, and when they run."""
