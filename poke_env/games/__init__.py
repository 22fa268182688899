"""The rules of the games: one file a game, and what the adapters read of it."""
