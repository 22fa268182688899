"""What cards and calls bring in Pokex; measured in play, not written by hand.

Made by `python -m training.fit_pokex --deals 2000 --seed 20260`.
"""

BY_KIND = (
    (-1.11, -0.55, 0.4, 0.25, 0.37, 2.8),  # high_card, follows, 0 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, follows, 1 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, follows, 2 wild
    (-2.53, -1.32, -0.51, -0.33, -0.16, 1.88),  # high_card, leads, 0 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, leads, 1 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, leads, 2 wild
    (-0.99, -0.49, 0.11, 0.02, 0.33, 2.14),  # wild, follows, 0 wild
    (0.57, 0.87, 0.34, 0.62, 1.62, 0.0),  # wild, follows, 1 wild
    (2.72, 0.0, 0.0, 0.0, 0.0, 0.0),  # wild, follows, 2 wild
    (-2.22, -1.66, -0.74, -0.29, -0.28, 1.45),  # wild, leads, 0 wild
    (-0.05, 0.22, 0.23, 0.17, 0.73, 0.0),  # wild, leads, 1 wild
    (1.85, 0.0, 0.0, 0.0, 0.0, 0.0),  # wild, leads, 2 wild
)
"""By reading of the jokers, whether the side leads, wild cards among the three, kind
(`agents.pokex_plan`): the log odds of the trick, for the middle rank in the middle of the deal. 0
where three cards cannot be so."""

BY_RANK = (
    (0.079, 0.1, 0.049, 0.055, 0.08, 0.097),  # high_card, follows
    (0.149, 0.045, 0.049, 0.043, 0.047, 0.08),  # high_card, leads
    (0.05, 0.096, 0.106, 0.033, 0.083, 0.084),  # wild, follows
    (0.038, 0.057, 0.013, 0.013, 0.057, 0.058),  # wild, leads
)
"""What a rank more adds: by reading of the jokers, whether the side leads, kind."""

BY_LEFT = (
    (0.063, 0.314, 0.342, 0.247, 0.13, 0.007),  # high_card, follows
    (-0.298, -0.221, -0.009, 0.007, 0.035, -0.257),  # high_card, leads
    (0.038, 0.193, 0.417, 0.193, 0.117, -0.241),  # wild, follows
    (-0.122, -0.131, -0.032, 0.14, -0.036, -0.482),  # wild, leads
)
"""What it adds that a trick more is left, likewise."""

BY_CALLS = (
    (0.109, 0.694, -0.084, -0.002, -0.069, 0.058),  # high_card
    (-0.029, 0.933, -0.045, -0.013, -0.047, 0.042),  # wild
)
"""By reading of the jokers: the share of the tricks that a side takes, by
`agents.pokex_plan.describe_auction`."""
