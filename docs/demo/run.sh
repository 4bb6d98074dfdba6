#!/bin/sh
# What `make demo` runs, from the root of the checkout: each command is shown, then its answer.
set -eu
store=duckdb:///demo.duckdb
rm -f demo.duckdb demo.duckdb.wal

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

show warehouse --db "$store" ingest docs/demo/results --cluster-by passage
show warehouse --db "$store" leaderboard
show warehouse --db "$store" compare model-a model-b
printf '\nThe store lies in %s/demo.duckdb; ask it more with: warehouse --db %s ...\n' "$PWD" "$store"
