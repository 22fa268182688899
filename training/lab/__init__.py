"""The laboratory: what can be solved, solved; what is estimated, with its error."""
