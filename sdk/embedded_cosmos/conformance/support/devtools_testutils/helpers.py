def is_live() -> bool:
    """Whether the tests talk to a service, not to recordings of one."""
    return True
