#!/bin/sh
# What `make demo` runs, from the root of the checkout: each command is shown, then its answer.
set -eu
export WAREHOUSE_URL=duckdb:///demo.duckdb
rm -f demo.duckdb demo.duckdb.wal report.html

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

show warehouse ingest docs/demo/results
show warehouse fix cluster reading passage --default
show warehouse leaderboard
show warehouse compare model-a model-b
show warehouse refresh
show warehouse report

tool=$(command -v warehouse)
tool=${tool#"$PWD"/}
cat <<END

The report is the file $PWD/report.html: open it in a browser.
The store is the file demo.duckdb in $PWD. Ask it more:
  $tool --db demo.duckdb show run:1 0
  $tool --db demo.duckdb compare model-a model-b --flips 5
  $tool --db demo.duckdb query disagreements -p run_a=1 -p run_b=5
  $tool --db demo.duckdb query
END
