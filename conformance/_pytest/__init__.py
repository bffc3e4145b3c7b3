"""Parts of the plugin and of the test class; ``plugin`` itself stays inert."""
