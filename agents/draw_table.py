"""What a hand is expected to bring; measured in play, not written by hand.

Made by `python -m training.fit_draws --deals 600000 --least 50 --seed 20240`.
"""

HOLDINGS = {
    (2, 0, 0, 0): (0.67, -17.1),  # high_card
    (2, 0, 0, 1): (0.76, -9.7),  # high_card
    (2, 0, 1, 0): (0.86, -6.9),  # pair
    (2, 1, 0, 0): (0.50, -13.8),  # high_card
    (2, 1, 0, 1): (0.57, -7.7),  # high_card
    (2, 1, 1, 0): (0.75, 13.9),  # pair
    (3, 0, 0, 0): (0.70, -22.4),  # high_card
    (3, 0, 0, 1): (0.88, -16.3),  # high_card
    (3, 0, 0, 2): (0.93, -9.4),  # high_card
    (3, 0, 1, 0): (1.42, 8.1),  # pair
    (3, 0, 1, 1): (1.40, 8.4),  # pair
    (3, 1, 0, 0): (1.03, -23.5),  # high_card
    (3, 1, 0, 1): (1.07, -16.0),  # high_card
    (3, 1, 0, 2): (1.10, -10.5),  # high_card
    (3, 1, 1, 0): (1.24, 13.2),  # pair
    (3, 1, 1, 1): (1.25, 14.0),  # pair
    (5, 0, 0, 0): (1.30, -78.7),  # high_card
    (5, 0, 0, 1): (1.43, -64.8),  # high_card
    (5, 0, 0, 2): (1.51, -56.6),  # high_card
    (5, 0, 0, 3): (1.53, -55.1),  # high_card
    (5, 0, 1, 0): (1.83, -50.5),  # pair
    (5, 0, 1, 1): (1.96, -26.3),  # pair
    (5, 0, 1, 2): (2.01, -18.9),  # pair
    (5, 0, 1, 3): (2.05, -9.1),  # pair
    (5, 0, 2, 0): (2.49, 28.2),  # two_pair
    (5, 0, 2, 1): (2.68, 77.9),  # two_pair
    (5, 0, 3, 0): (3.12, 146.8),  # three_of_a_kind
    (5, 0, 3, 1): (3.27, 204.6),  # three_of_a_kind
    (5, 0, 3, 2): (3.26, 198.5),  # three_of_a_kind
    (5, 0, 4, 0): (1.27, 264.8),  # straight
    (5, 0, 5, 0): (1.32, 374.3),  # flush
    (5, 0, 6, 0): (4.28, 483.2),  # full_house
    (5, 0, 7, 0): (4.12, 599.8),  # four_of_a_kind
    (5, 0, 10, 1): (1.39, -26.4),  # inside_straight
    (5, 0, 11, 1): (1.27, 6.0),  # open_straight
    (5, 0, 12, 1): (1.40, 39.3),  # four_flush
    (5, 1, 0, 0): (2.20, -35.2),  # high_card
    (5, 1, 0, 1): (2.33, -24.0),  # high_card
    (5, 1, 0, 2): (2.42, -11.4),  # high_card
    (5, 1, 0, 3): (2.45, -3.4),  # high_card
    (5, 1, 1, 0): (2.73, 4.4),  # pair
    (5, 1, 1, 1): (2.79, 19.7),  # pair
    (5, 1, 1, 2): (2.81, 35.6),  # pair
    (5, 1, 1, 3): (2.82, 50.0),  # pair
    (5, 1, 2, 0): (3.16, 79.2),  # two_pair
    (5, 1, 2, 1): (3.19, 128.9),  # two_pair
    (5, 1, 3, 0): (2.90, 191.0),  # three_of_a_kind
    (5, 1, 3, 1): (2.98, 219.8),  # three_of_a_kind
    (5, 1, 3, 2): (2.95, 241.3),  # three_of_a_kind
    (5, 1, 4, 0): (1.97, 302.0),  # straight
    (5, 1, 5, 0): (2.24, 405.7),  # flush
    (5, 1, 6, 0): (3.31, 508.2),  # full_house
    (5, 1, 7, 0): (3.00, 614.7),  # four_of_a_kind
    (5, 1, 10, 1): (2.25, 20.0),  # inside_straight
    (5, 1, 11, 1): (2.15, 60.9),  # open_straight
    (5, 1, 12, 1): (2.34, 98.8),  # four_flush
}
"""Hand size, whether the player deals, what he keeps, cards he changes: cards he takes of a hand
size, and his poker points less the opponent's, if he stands on what comes and every card kept is of
the middle rank."""

RANK = {
    2: ((0.478, 0.884, 0.0), (12.909, 27.562, 0.0)),
    3: ((0.185, 0.332, 0.0), (2.265, 10.238, 0.0)),
    5: ((0.06, 0.101, 0.107), (0.243, 3.375, 1.687)),
}
"""By hand size, what a rank more adds to the cards taken, and to the poker points, for a single
card, a pair, three or more that are kept."""

OPPONENT = {
    2: (0.0, 0.16, 0.0, 0.0),
    3: (0.0, -0.06, 0.07, 0.0),
    5: (0.0, -0.75, -0.56, -0.2),
}
"""By hand size, what it adds to the dealer's cards taken that the other changed 0, 1, 2 or 3 cards
in his last draw."""
