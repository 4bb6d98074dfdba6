1 rows written to /tmp/attack/o.parquet
