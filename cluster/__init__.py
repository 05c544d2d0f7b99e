"""Where it runs: the lake (Parquet through fsspec) and the executor (Ray). Knows no stage."""
