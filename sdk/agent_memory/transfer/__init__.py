"""Transfer: everything of a user out of a store as lines of JSON, and into one again, also from other systems."""
