"""Tables, migrations, revisions, and the proof that a store is sound."""
