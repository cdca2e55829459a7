"""Reading and writing of the files in a run directory.

- `directory`, `deletion`, `files`: the directory, its lock and deletion, its files
- `results`: `results.jsonl`
- `transcript`, `transcripts`, `transcript_contents`: logs of samples, and their content
- `planned_samples`: how many samples each problem has
- `state`, `pending`: state of a run; why samples are pending
- `lost_answers`: requests whose answer was lost
- `versions`, `origin`: by which versions a run was made; made here or imported
"""
