"""`harness verify`: judge a benchmark's references, also on generated inputs."""
