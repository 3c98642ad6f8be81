"""The method names of other memory systems, over this one, so that code written for those can move over."""
