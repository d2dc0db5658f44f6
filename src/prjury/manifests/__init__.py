"""What a project declares: build files, modules, versions."""
