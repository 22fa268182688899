"""What cards and calls bring in Pokex; measured in play, not written by hand.

Made by `python -m training.fit_pokex --deals 2000 --seed 20260`.
"""

BY_KIND = (
    (-1.06, -0.53, 0.18, 0.05, 0.41, 3.15),  # high_card, follows, 0 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, follows, 1 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, follows, 2 wild
    (-2.55, -1.58, -0.53, -0.36, -0.15, 2.04),  # high_card, leads, 0 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, leads, 1 wild
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # high_card, leads, 2 wild
    (-1.04, -0.72, -0.1, 0.05, 0.37, 2.36),  # wild, follows, 0 wild
    (0.48, 0.5, 0.6, 0.48, 1.37, 0.0),  # wild, follows, 1 wild
    (2.14, 0.0, 0.0, 0.0, 0.0, 0.0),  # wild, follows, 2 wild
    (-2.37, -1.76, -0.98, -0.44, -0.27, 1.55),  # wild, leads, 0 wild
    (0.54, -0.27, 0.06, 0.21, 0.71, 0.0),  # wild, leads, 1 wild
    (2.25, 0.0, 0.0, 0.0, 0.0, 0.0),  # wild, leads, 2 wild
)
"""By reading of the jokers, whether the side leads, wild cards among the three, kind
(`agents.pokex_plan`): the log odds of the trick, for the middle rank in the middle of the deal. 0
where three cards cannot be so."""

BY_RANK = (
    (0.063, 0.077, 0.078, 0.063, 0.085, 0.099),  # high_card, follows
    (0.167, 0.028, 0.018, 0.009, 0.052, 0.052),  # high_card, leads
    (0.057, 0.072, 0.092, 0.043, 0.082, 0.071),  # wild, follows
    (0.051, 0.111, 0.07, -0.01, 0.057, 0.049),  # wild, leads
)
"""What a rank more adds: by reading of the jokers, whether the side leads, kind."""

BY_LEFT = (
    (0.099, 0.275, 0.401, 0.256, 0.128, -0.153),  # high_card, follows
    (-0.26, -0.231, -0.026, 0.028, 0.03, -0.319),  # high_card, leads
    (0.06, 0.215, 0.3, 0.149, 0.177, -0.3),  # wild, follows
    (-0.33, -0.044, 0.023, 0.228, -0.05, -0.566),  # wild, leads
)
"""What it adds that a trick more is left, likewise."""

BY_CALLS = (
    (0.072, 0.742, -0.156, 0.022, -0.093, 0.085),  # high_card
    (-0.058, 0.95, -0.139, 0.058, -0.097, 0.083),  # wild
)
"""By reading of the jokers: the share of the tricks that a side takes, by
`agents.pokex_plan.describe_auction`."""
