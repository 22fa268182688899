"""The laboratory: what Poke is worth and why, one module a result (`python -m training.lab`)."""
