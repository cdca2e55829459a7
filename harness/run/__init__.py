"""What a run is on disk, and the engine that carries one out."""
