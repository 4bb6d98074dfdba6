"""The command line, installed as `warehouse.cli`: one file per command group.

A command parses its arguments, calls one function of the library and prints the answer.
Siblings are imported relatively (`from .options import ...`), the library absolutely;
nothing imports this package.
"""
