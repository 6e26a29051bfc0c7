"""The arena: paired deals, intervals, and results that depend on the seed alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from goboom_env import PRESETS, GoBoomEnv
from goboom_env.arena import compare, match, play
from goboom_env.engine.rng import stream_words
from goboom_env.policies import Policy, make
from goboom_env.rules import get_rules
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
    share = play.win_shares(table).mean(axis=0)
    sigma = (1 / num_players * (1 - 1 / num_players) / 20_000) ** 0.5
    assert np.abs(share - 1 / num_players).max() < 3.5 * sigma


def test_the_result_depends_on_the_seed_alone() -> None:
    for field in ("random", {"random": 0.5, "greedy": 0.5}):
        results = [compare("lead", field, deals=60, seed=3, tables=tables) for tables in (1, 7, 64)]
        assert results[0] == results[1] == results[2]
        assert compare("lead", field, deals=60, seed=4) != results[0]


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_processes() -> None:
    one, two = (compare("lead", {"random": 0.5, "greedy": 0.5}, deals=2000, seed=3, width=0.03, processes=count) for count in (1, 2))
    assert one == two
    assert one.deals < 2000


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
        low, high = match.interval(play.win_shares(table)[:, 0])
        covered += low <= 0.5 <= high
    # 95 % of 40 is 38; below 33 has a probability under 0.1 %.
    assert covered >= 33


@pytest.mark.slow
def test_intervals_of_a_run_that_stops_by_width_cover_the_truth_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compare` itself on deals that are drawn here: each the mean of four hands that are won one time in four."""
    rng = np.random.default_rng(5)

    def drawn(plan: play.Plan, jobs: Iterator[play.Job], processes: int) -> Any:
        def outcomes() -> Iterator[tuple[play.Job, play.Outcome]]:
            for job in jobs:
                wins = np.repeat(rng.binomial(4, 0.25, len(job.words))[:, None] / 4, 4, axis=1)
                yield job, play.Outcome(wins, wins)

        return closing(outcomes())

    monkeypatch.setattr(match, "play_jobs", drawn)
    results = [compare("random", "random", deals=2600, width=0.02) for _ in range(600)]
    # The standard deviation of a deal is 0.2165, so about 1,800 deals make an interval of 0.02.
    assert {result.deals % play.BATCH for result in results} == {0}
    assert all(1500 < result.deals < 2200 and result.win_interval[1] - result.win_interval[0] <= 0.02 for result in results)
    covered = sum(result.win_interval[0] <= 0.25 <= result.win_interval[1] for result in results)
    assert 552 <= covered <= 588  # 570, and three standard errors of 5.3 and a little


def test_width_stops_at_the_first_look_that_suffices() -> None:
    looks: list[int] = []
    wide = compare("lead", "random", deals=3000, seed=3, width=0.03, progress=looks.append)
    assert looks == [play.BATCH] * (wide.deals // play.BATCH) and len(looks) > 1
    assert wide.win_interval[1] - wide.win_interval[0] <= 0.03
    assert wide == compare("lead", "random", deals=wide.deals, seed=3)
    before = compare("lead", "random", deals=wide.deals - play.BATCH, seed=3).win_interval
    assert before[1] - before[0] > 0.03
    never = compare("lead", "random", deals=300, seed=3, width=0.03)
    assert never == compare("lead", "random", deals=300, seed=3)


def test_rotations_are_those_of_tables_seated_by_hand() -> None:
    policies = [make(name) for name in ("random", "shed", "void")]
    words = stream_words(8, 5)
    order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0], [2, 1, 0], [1, 0, 2]])
    plan = play.Plan(get_rules("classic"), 3, "hand", ([[(policy, 1.0)] for policy in policies],), tables=4)
    outcome = plan.play(play.Job(0, words, order))
    for deal, places in enumerate(order):
        wins, points = np.zeros(3), np.zeros(3)
        for rotation in range(3):
            sitting = [places[(seat - rotation) % 3] for seat in range(3)]
            table = Table("classic", [[(policies[place], 1.0)] for place in sitting])
            table.reset(words=words[[deal]])
            wins[sitting] += play.win_shares(table)[0]
            points[sitting] += 100 * table.payoffs[0]
        assert outcome.wins[deal] == pytest.approx(wins / 3)
        assert outcome.points[deal] == pytest.approx(points / 3)


class Fragile(Policy):
    """Comes to grief when another process unpacks it or lets it act."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.name == "unpacked":
            raise OSError("no such thing here")

    def act(self, views: Any, rng: Any) -> Any:
        os._exit(3)


def test_what_cannot_be_sent_to_another_process_is_named() -> None:
    with pytest.raises(ValueError, match=r"policy '<lambda>' cannot be sent to another process.*processes=1"):
        compare(lambda observation, mask: int(np.argmax(mask)), "random", deals=2, processes=2)


@pytest.mark.slow
def test_what_fails_in_another_process_is_told() -> None:
    with pytest.raises(ValueError, match=r"no such thing here.*processes=1"):
        compare(Fragile("unpacked"), "random", deals=2, processes=2)
    with pytest.raises(RuntimeError, match=r"processes=1.*__main__"):
        compare(Fragile("acting"), "random", deals=2, processes=2)


@pytest.mark.parametrize("rules", ["jokers", "jokers-aces"])
def test_a_blocked_hand_is_shared_by_all(rules: str) -> None:
    table = Table(rules, [[(make("random"), 1.0)]] * 4, 2000)
    table.reset(list(range(2000)))
    blocked = table.winners < 0
    assert blocked.any()
    assert (play.win_shares(table)[blocked] == 0.25).all()
    assert play.win_shares(table).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("rules", PRESETS)
def test_matches_share_the_win_among_the_best_scores(rules: str) -> None:
    players = min(3, PRESETS[rules].max_players)
    table = Table(rules, [[(make("random"), 1.0)]] * players, 50, episode="match")
    table.reset(list(range(50)))
    shares = play.win_shares(table)
    for row, share in zip(table.scores, shares, strict=True):
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
        ({"deals": 1.5}, "deals=1.5 must be a whole number"),
        ({"seed": -1}, "seed=-1"),
        ({"width": 0}, "width=0"),
        ({"width": float("nan")}, "width=nan"),
        ({"processes": 0}, "processes=0"),
        ({"tables": 0}, "tables=0"),
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
