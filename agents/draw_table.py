"""What a hand is expected to bring; measured in play, not written by hand.

python -m training.fit_draws --deals 600000 --least 50 --seed 20240
"""

HOLDINGS = {
    (2, 0, 0, 0): (0.67, -17.1),  # high_card
    (2, 0, 0, 1): (0.76, -9.7),  # high_card
    (2, 0, 1, 0): (0.86, -6.9),  # pair
    (2, 1, 0, 0): (0.50, -13.8),  # high_card
    (2, 1, 0, 1): (0.57, -7.7),  # high_card
    (2, 1, 1, 0): (0.75, 13.9),  # pair
    (3, 0, 0, 0): (0.71, -22.6),  # high_card
    (3, 0, 0, 1): (0.87, -16.7),  # high_card
    (3, 0, 0, 2): (0.92, -9.6),  # high_card
    (3, 0, 1, 0): (1.42, 7.7),  # pair
    (3, 0, 1, 1): (1.39, 8.0),  # pair
    (3, 1, 0, 0): (1.03, -23.6),  # high_card
    (3, 1, 0, 1): (1.07, -15.9),  # high_card
    (3, 1, 0, 2): (1.10, -10.9),  # high_card
    (3, 1, 1, 0): (1.24, 12.8),  # pair
    (3, 1, 1, 1): (1.24, 13.1),  # pair
    (5, 0, 0, 0): (1.31, -78.7),  # high_card
    (5, 0, 0, 1): (1.44, -64.7),  # high_card
    (5, 0, 0, 2): (1.53, -59.0),  # high_card
    (5, 0, 0, 3): (1.54, -54.5),  # high_card
    (5, 0, 1, 0): (1.84, -50.8),  # pair
    (5, 0, 1, 1): (1.96, -27.7),  # pair
    (5, 0, 1, 2): (2.03, -15.8),  # pair
    (5, 0, 1, 3): (2.04, -9.4),  # pair
    (5, 0, 2, 0): (2.42, 28.0),  # two_pair
    (5, 0, 2, 1): (2.59, 79.6),  # two_pair
    (5, 0, 3, 0): (3.13, 149.4),  # three_of_a_kind
    (5, 0, 3, 1): (3.26, 186.3),  # three_of_a_kind
    (5, 0, 3, 2): (3.23, 197.8),  # three_of_a_kind
    (5, 0, 4, 0): (1.31, 269.9),  # straight
    (5, 0, 5, 0): (1.34, 374.8),  # flush
    (5, 0, 6, 0): (4.31, 488.8),  # full_house
    (5, 0, 7, 0): (4.13, 599.8),  # four_of_a_kind
    (5, 0, 10, 1): (1.41, -26.6),  # inside_straight
    (5, 0, 11, 1): (1.30, 6.2),  # open_straight
    (5, 0, 12, 1): (1.44, 44.3),  # four_flush
    (5, 1, 0, 0): (2.23, -33.9),  # high_card
    (5, 1, 0, 1): (2.37, -23.7),  # high_card
    (5, 1, 0, 2): (2.43, -10.4),  # high_card
    (5, 1, 0, 3): (2.45, -2.8),  # high_card
    (5, 1, 1, 0): (2.72, 5.6),  # pair
    (5, 1, 1, 1): (2.79, 21.6),  # pair
    (5, 1, 1, 2): (2.77, 39.1),  # pair
    (5, 1, 1, 3): (2.81, 51.4),  # pair
    (5, 1, 2, 0): (3.13, 81.0),  # two_pair
    (5, 1, 2, 1): (3.14, 132.1),  # two_pair
    (5, 1, 3, 0): (2.89, 190.6),  # three_of_a_kind
    (5, 1, 3, 1): (3.02, 227.7),  # three_of_a_kind
    (5, 1, 3, 2): (2.93, 239.8),  # three_of_a_kind
    (5, 1, 4, 0): (2.02, 305.8),  # straight
    (5, 1, 5, 0): (2.25, 404.1),  # flush
    (5, 1, 6, 0): (3.32, 509.3),  # full_house
    (5, 1, 7, 0): (2.98, 617.2),  # four_of_a_kind
    (5, 1, 10, 1): (2.25, 20.1),  # inside_straight
    (5, 1, 11, 1): (2.17, 60.2),  # open_straight
    (5, 1, 12, 1): (2.33, 97.5),  # four_flush
}
"""Hand size, whether the player deals, what he keeps, cards he changes: cards he takes of a hand
size, and his poker points less the opponent's, if he stands on what comes and every card kept is of
the middle rank."""

RANK = {
    2: ((0.478, 0.884, 0.0), (12.909, 27.562, 0.0)),
    3: ((0.186, 0.337, 0.0), (2.309, 10.471, -0.0)),
    5: ((0.061, 0.106, 0.11), (0.235, 3.4, 2.32)),
}
"""By hand size, what a rank more adds to the cards taken, and to the poker points, for a single
card, a pair, three or more that are kept."""

OPPONENT = {
    2: (0.0, 0.16, 0.0, 0.0),
    3: (0.0, -0.06, 0.03, 0.0),
    5: (0.0, -0.81, -0.57, -0.24),
}
"""By hand size, what it adds to the dealer's cards taken that the other changed 0, 1, 2 or 3 cards
in his last draw."""
