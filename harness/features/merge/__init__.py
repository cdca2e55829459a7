"""`harness merge`: merge the shards of a run."""
