"""The schema that this program works with."""

#: The newest migration. A test holds it to the files in ``migrations/versions``.
HEAD = "0017"
