"""Shapley values against the definition by orders, and games with known answers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from leobench.attribution import shapley


def by_orders(worth: dict[frozenset[str], float], names: str) -> dict[str, float]:
    """The mean over all orders of what each name adds to those before it."""
    orders = list(permutations(names))
    found = dict.fromkeys(names, 0.0)
    for order in orders:
        for at, name in enumerate(order):
            before = frozenset(order[:at])
            found[name] += (worth[before | {name}] - worth[before]) / len(orders)
    return found


def test_shares_are_the_mean_over_all_orders_and_add_up() -> None:
    rng = np.random.default_rng(7)
    for names in ("a", "ab", "abcde"):
        worth = {each: float(rng.uniform(-5, 5)) for each in shapley.subsets(names)}
        found = shapley.shares(worth, list(names))
        assert found == pytest.approx(by_orders(worth, names))
        assert sum(found.values()) == pytest.approx(worth[frozenset(names)] - worth[frozenset()])


def test_the_glove_game_has_its_known_answer() -> None:
    # One has a left glove, two have a right one; a pair is worth 1 (Shapley and Shubik 1969): 2/3, 1/6, 1/6.
    worth = {each: float("l" in each and len(each) > 1) for each in shapley.subsets("lrs")}
    assert shapley.shares(worth, ["l", "r", "s"]) == pytest.approx({"l": 2 / 3, "r": 1 / 6, "s": 1 / 6})


def test_causes_that_only_act_together_share_alike_and_others_have_no_part() -> None:
    worth = {each: 12.0 * ({"a", "b"} <= each) for each in shapley.subsets("abc")}
    assert shapley.shares(worth, ["a", "b", "c"]) == pytest.approx({"a": 6, "b": 6, "c": 0})
    assert shapley.shares({frozenset(): 3.0}, []) == {}
