"""Adapters that give the agents of other frameworks this memory, one module for each framework.

A module imports its framework when it is imported itself. The extra of the same name installs the framework.
"""
