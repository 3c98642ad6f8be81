"""Remembering: writes and corrects memories by hand, replaces memories, and carries out what follows from that."""
