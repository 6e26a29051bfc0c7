"""The arena: paired deals, intervals, and results that depend on the seed alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from goboom_env import PRESETS, GoBoomEnv
from goboom_env.arena import compare, match
from goboom_env.policies import make
from goboom_env.table import Table


def test_equal_policies_come_out_equal_on_every_deal() -> None:
    result = compare("greedy", "greedy", deals=300, seed=1)
    assert result.win_share == pytest.approx(0.25) and result.points == pytest.approx(0)
    assert result.win_interval == pytest.approx((0.25, 0.25))
    assert (result.deals, result.hands, result.policy, result.field) == (300, 1200, "greedy", "greedy")


@pytest.mark.parametrize("num_players", [2, 4])
def test_equal_random_bots_get_an_equal_share_of_independent_hands(num_players: int) -> None:
    table = Table("classic", [[(make("random"), 1.0)]] * num_players, 20_000)
    table.reset(list(range(20_000)))
    share = match.win_shares(table).mean(axis=0)
    sigma = (1 / num_players * (1 - 1 / num_players) / 20_000) ** 0.5
    assert np.abs(share - 1 / num_players).max() < 3.5 * sigma


def test_the_result_depends_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for tables in (4, 28, 256):
        monkeypatch.setattr(match, "_TABLES", tables)
        results.append(compare("lead", "random", deals=60, seed=3))
    assert results[0] == results[1] == results[2]
    assert compare("lead", "random", deals=60, seed=4) != results[0]


def test_a_deal_is_the_same_in_every_rotation() -> None:
    """With a policy that always takes the lowest legal action on every seat, rotations of a deal are one and the same game."""

    def lowest(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(np.flatnonzero(mask)[0])

    result = compare(lowest, lowest, num_players=3, deals=20)
    assert result.win_interval == pytest.approx((1 / 3, 1 / 3))


def test_interval_is_over_deals() -> None:
    values = np.array([0.0, 0.25, 0.5, 0.25])
    # Mean 0.25, sample standard deviation sqrt(0.125 / 3) = 0.2041, standard error 0.1021.
    assert match.interval(values) == pytest.approx((0.25 - 0.2000, 0.25 + 0.2000), abs=1e-3)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Win share of random against random on independent deals is 1/4; a policy paired with itself would show no spread."""
    covered = 0
    for seed in range(40):
        table = Table("mini", [[(make("random"), 1.0)]] * 2, 200)
        table.reset([seed * 1000 + k for k in range(200)])
        low, high = match.interval(match.win_shares(table)[:, 0])
        covered += low <= 0.5 <= high
    # 95 % of 40 is 38; below 33 has a probability under 0.1 %.
    assert covered >= 33


@pytest.mark.parametrize("rules", ["jokers", "jokers-aces"])
def test_a_blocked_hand_is_shared_by_all(rules: str) -> None:
    table = Table(rules, [[(make("random"), 1.0)]] * 4, 2000)
    table.reset(list(range(2000)))
    blocked = table.rows["winner"] < 0
    assert blocked.any()
    assert (match.win_shares(table)[blocked] == 0.25).all()
    assert match.win_shares(table).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("rules", PRESETS)
def test_matches_share_the_win_among_the_best_scores(rules: str) -> None:
    players = min(3, PRESETS[rules].max_players)
    table = Table(rules, [[(make("random"), 1.0)]] * players, 50, episode="match")
    table.reset(list(range(50)))
    shares = match.win_shares(table)
    for row, share in zip(table.rows["scores"][:, :players], shares, strict=True):
        best = min(row) if PRESETS[rules].scoring == "penalty" else max(row)
        winners = [score == best for score in row]
        assert share == pytest.approx([won / sum(winners) for won in winners])


def test_points_follow_from_the_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    env = GoBoomEnv("stakes", 2, opponents="lead")
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        _, reward, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
    # Two seats that settle: what one wins the other loses, so own less the other's is twice the own.
    assert 100 * reward == pytest.approx(2 * info["scores"][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deals": 0}, "deals=0"),
        ({"num_players": 99}, "num_players=99"),
        ({"rules": "nope"}, "no preset"),
        ({"field": ["greedy"]}, "3 opponent seats"),
        ({"policy": "grdy"}, "did you mean 'greedy'"),
        ({"episode": "x"}, "episode='x'"),
    ],
)
def test_bad_input_names_the_value(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(**{"policy": "greedy", "field": "random", **arguments})


@pytest.mark.slow
def test_order_of_the_rule_bots_on_classic() -> None:
    """Each of the bots that play to win beats `random` and the rung before it, and `shed` does not: it plays for points."""
    for players in (2, 4):
        for bot, rung_before in (("greedy", "shed"), ("lead", "greedy"), ("void", "lead"), ("counter", "void")):
            for other in ("random", rung_before):
                assert compare(bot, other, num_players=players, deals=10_000).win_interval[0] > 1 / players
        assert compare("shed", "random", num_players=players, deals=5000).win_interval[1] < 1 / players
