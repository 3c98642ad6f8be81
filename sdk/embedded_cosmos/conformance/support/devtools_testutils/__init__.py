"""What Microsoft's azure-cosmos tests import of their tool chain; it is not published, and little of it is used."""
