"""Several processes on one store file: the one that has it open serves the others.

Only one process can have a store file open. It serves the HTTP API on a port of this machine, and a note next to the
file has the address and the key. A process that finds the file in use connects there. When the first process ends, the
next one that needs the file opens it.
"""
