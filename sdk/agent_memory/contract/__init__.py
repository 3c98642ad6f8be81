"""What is said over HTTP, for both of its ends: which method of a scope has which path, and what goes in and out."""
