"""The harness as a library: `import harness` has the names that are for everybody."""
