"""`harness pack` and `harness merge`: compress a run, or merge the shards of one."""
