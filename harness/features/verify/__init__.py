"""`harness verify`: a benchmark's references, judged; generated inputs."""
