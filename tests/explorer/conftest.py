"""What the tests of the explorer share."""

from explorer_world import browser, look, world

__all__ = ["browser", "look", "world"]
