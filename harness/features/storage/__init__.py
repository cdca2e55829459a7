"""`harness pack` and `harness merge`: run directories made smaller, or one of many."""
