"""Several processes on one store file: the one that has it open serves the others.

Only one process can have a store file open. It serves the HTTP API on a port of this machine, and a note beside the
file says where, and with which key. Who finds the file in use goes there. When the process ends, the next one that
needs the file opens it.
"""
