"""Running untrusted code: fork servers, limits, a pool of workers."""
