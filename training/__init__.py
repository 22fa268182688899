"""The laboratory: what makes players and what measures them; one file a job."""
