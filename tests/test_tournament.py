"""Round robins: who plays whom, results that depend on the seed alone, ratings, and how fast policies decide."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from itertools import permutations
from typing import Any

import choix
import numpy as np
import pytest
from numpy.typing import NDArray

from goboom_env.arena import pace, planned_deals, round_robin
from goboom_env.arena.rating import rate, strengths
from goboom_env.arena.tournament import MOST_MIXED, mixed_lineups
from goboom_env.policies import Policy, make
from goboom_env.rules import get_rules


class Salted(Policy):
    """`random` with bits of its own, so that equal players do not play alike."""

    def __init__(self, salt: int) -> None:
        self.name = f"salted {salt}"
        self.salt = salt
        self.random = make("random")

    def bind(self, rules: Any, num_players: int) -> Policy:
        bound = Salted(self.salt)
        bound.random = self.random.bind(rules, num_players)
        return bound

    def act(self, views: Any, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        return self.random.act(views, rng * np.uint64(2 * self.salt + 1) ^ rng >> np.uint64(29))


# Who plays whom


@pytest.mark.parametrize(("policies", "seats"), [(2, 2), (5, 2), (5, 4), (4, 4), (3, 4), (2, 5), (3, 12), (12, 6), (20, 3), (16, 8)])
def test_mixed_tables_treat_all_policies_alike(policies: int, seats: int) -> None:
    lineups = mixed_lineups(policies, seats, seed=1)
    counts = Counter(number for lineup in lineups for number in lineup)
    assert len(set(lineups)) == len(lineups) and {len(lineup) for lineup in lineups} == {seats}
    assert set(counts) == set(range(policies)) and len(set(counts.values())) == 1
    for lineup in lineups:
        sitting = [lineup.count(number) for number in range(policies)]
        assert max(sitting) - min(sitting) <= 1
    everything = math.comb(policies, seats % policies if seats >= policies else seats)
    assert len(lineups) == everything if everything <= MOST_MIXED else MOST_MIXED - policies < len(lineups) <= MOST_MIXED


def test_every_pair_meets_as_one_against_a_field() -> None:
    result = round_robin(["random", "greedy", "shed"], num_players=3, deals=40)
    assert {(pair.policy, pair.field) for pair in result.pairwise} == set(permutations(["random", "greedy", "shed"], 2))
    assert sorted(result.lineups) == sorted(
        [("greedy", "random", "shed"), *((a, b, b) for a, b in permutations(("greedy", "random", "shed"), 2))]
    )
    # 20 deals of the one mixed table, 20 of six fields rounded up to 4 of each.
    assert [len(wins) for wins in result.wins] == [20] + [4] * 6
    assert result.deals == 44 == planned_deals(3, 3, 40)
    assert result.hands == 132


def test_at_two_seats_a_pair_is_one_line_up_seen_from_both_sides() -> None:
    result = round_robin(["random", "greedy", "shed"], num_players=2, deals=60)
    assert len(result.lineups) == 3 and result.deals == 60
    pairs = {(pair.policy, pair.field): pair for pair in result.pairwise}
    assert set(pairs) == set(permutations(["random", "greedy", "shed"], 2))
    for (a, b), pair in pairs.items():
        assert pair.win_share + pairs[b, a].win_share == pytest.approx(1)
        assert pair.points == pytest.approx(-pairs[b, a].points)


@pytest.mark.parametrize(("names", "players"), [(("random", "greedy", "void"), 5), (("random", "greedy", "void", "shed"), 3)])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_shares_are_those_of_all_seats_and_points_cancel(names: tuple[str, ...], players: int, episode: str) -> None:
    result = round_robin(names, num_players=players, deals=30, episode=episode)
    assert np.mean([row.win_share for row in result.results]) == pytest.approx(1 / players)
    assert sum(row.points for row in result.results) == pytest.approx(0, abs=1e-9)
    assert [row.win_share for row in result.results] == sorted((row.win_share for row in result.results), reverse=True)
    for wins in result.wins:
        assert wins.sum(axis=1) == pytest.approx(players)  # a win in each rotation


# What the result depends on


def test_result_depends_on_the_seed_alone() -> None:
    listed = (["random", "void", "lead", "search:2"], ["search:2", "lead", "void", "random"], ["lead", "random", "search:2", "void"])
    results = [round_robin(names, deals=40, seed=3, tables=tables) for names, tables in zip(listed, (1, 7, 64), strict=True)]
    assert results[0] == results[1] == results[2]
    assert results[0].ratings == results[1].ratings == results[2].ratings
    assert results[0] != round_robin(listed[0], deals=40, seed=4)


@pytest.mark.slow
def test_result_does_not_depend_on_the_number_of_processes() -> None:
    one, two = (round_robin(["random", "void", "lead", Salted(1)], deals=3000, width=0.07, processes=count) for count in (1, 2))
    assert one == two and one.ratings == two.ratings
    assert one.deals < 3000


def test_width_stops_once_every_interval_is_so_narrow() -> None:
    done: list[int] = []
    result = round_robin(["random", "void", "shed"], num_players=3, deals=5000, width=0.08, progress=done.append)
    assert sum(done) == result.deals < planned_deals(3, 3, 5000)
    assert all(row.win_interval[1] - row.win_interval[0] <= 0.08 for row in result.results)


def test_equal_names_are_told_apart() -> None:
    result = round_robin(["greedy", "random", "greedy"], num_players=3, deals=12)
    assert result.names == ("greedy", "greedy (2)", "random")


def test_equal_bots_share_every_deal_equally() -> None:
    """They take the same bits from the table's stream, so a deal is the same game whoever sits where."""
    for row in round_robin(["random"] * 4, deals=100).results:
        assert row.win_share == pytest.approx(0.25) and row.win_interval == pytest.approx((0.25, 0.25))


@pytest.mark.slow
def test_equal_players_get_equal_shares_and_ratings() -> None:
    """20,000 hands at the mixed table, as many in fields; each player draws from bits of its own."""
    result = round_robin([Salted(salt) for salt in range(4)], deals=10_000, seed=1)
    assert len(result.wins[0]) == 5000
    # Independent hands would have a standard error of 0.0031; pairing must not make it larger.
    errors = [(row.win_interval[1] - row.win_interval[0]) / (2 * 1.96) for row in result.results]
    assert min(errors) > 0.001 and max(errors) <= 0.0032
    for row, error in zip(result.results, errors, strict=True):
        assert abs(row.win_share - 0.25) <= 3 * error
    for rating in result.ratings:
        low, high = rating.interval
        assert 1 < high - low < 20
        assert abs(rating.rating) <= 3 * (high - low) / (2 * 1.96)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": ["random"]}, "two policies or more"),
        ({"policies": "random"}, "two policies or more"),
        ({"policies": ["random", "grdy"]}, "did you mean 'greedy'"),
        ({"deals": 0}, "deals=0"),
        ({"num_players": 1}, "num_players=1"),
        ({"width": -1}, "width=-1"),
        ({"episode": "game"}, "episode='game'"),
    ],
)
def test_bad_input_names_the_value(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        round_robin(**{"policies": ["random", "greedy"], **arguments})


# Ratings

SEATS = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 2, 0, 0], [0, 0, 2, 1.0]])
WINS = np.array([[7, 2, 4, 0], [0, 3, 3, 5], [6, 5, 0, 0], [0, 0, 9, 1.0]])


def test_strengths_are_those_of_choix_on_single_choices() -> None:
    """Three times the wins and the shared win of each line-up are whole numbers: choices that `choix.ilsr_top1` takes."""
    choices = []
    for seats, wins in zip(SEATS, WINS, strict=True):
        sitting = [k for k in range(4) for _ in range(int(seats[k]))]
        for winner in range(4):
            losers = list(sitting)
            if winner in losers:
                losers.remove(winner)
            choices += [(winner, losers)] * int(3 * wins[winner] + seats[winner])
    expected = choix.ilsr_top1(4, choices)
    assert strengths(WINS, SEATS) == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_strengths_expect_the_wins_that_there_were() -> None:
    """At most likelihood each policy's expected wins are those it had, the shared ones among them; fractions too."""
    wins = WINS + 0.25 * SEATS
    weights = np.exp(strengths(wins, SEATS))
    shared = wins + SEATS / 3
    expected = SEATS * weights / (SEATS @ weights)[:, None] * shared.sum(axis=1, keepdims=True)
    assert expected.sum(axis=0) == pytest.approx(shared.sum(axis=0))


@pytest.mark.parametrize("won", [1, 100, 100_000])
def test_always_winning_has_a_rating(won: int) -> None:
    deals = np.tile([1.0, 0.0], (won, 1))
    best, worst = rate(["a", "b"], np.ones((1, 2)), [deals])
    # With the shared win the odds are won + 1/2 to 1/2.
    assert best.rating - worst.rating == pytest.approx(400 * math.log10((won + 0.5) / 0.5), rel=1e-4)
    assert best.rating == pytest.approx(-worst.rating)
    assert best.interval == pytest.approx((best.rating, best.rating))


def test_ratings_do_not_depend_on_the_order_and_random_is_the_anchor() -> None:
    rng = np.random.default_rng(0)
    deals = [rng.multinomial(3, seats / 3, 50).astype(float) for seats in SEATS]
    names = ["a", "random", "b", "c"]
    first = {rating.policy: rating for rating in rate(names, SEATS, deals)}
    assert first["random"].rating == 0 and first["random"].interval == (0, 0)
    order = [2, 0, 3, 1]
    for rating in rate([names[k] for k in order], SEATS[:, order], [values[:, order] for values in deals]):
        assert rating.rating == pytest.approx(first[rating.policy].rating, abs=1e-4)
        # Other samples are drawn.
        low, high = first[rating.policy].interval
        assert rating.interval == pytest.approx((low, high), abs=0.2 * (high - low))
    without = rate(["a", "d", "b", "c"], SEATS, deals)
    assert sum(rating.rating for rating in without) == pytest.approx(0, abs=1e-6)


def test_bootstrap_intervals_have_the_width_of_the_normal_approximation() -> None:
    deals = np.random.default_rng(0).binomial(1, 0.6, 4000)
    (rating, _) = rate(["a", "b"], np.ones((1, 2)), [np.stack([deals, 1 - deals], axis=1).astype(float)])
    # The rating of two is half of 400 log10(p / (1 - p)); its derivative in p is 200 / ln 10 / (p (1 - p)).
    error = 200 / math.log(10) / math.sqrt(0.6 * 0.4 * 4000)
    assert rating.interval[1] - rating.interval[0] == pytest.approx(2 * 1.96 * error, rel=0.12)
    assert rating.rating == pytest.approx(200 * math.log10(deals.sum() / (4000 - deals.sum())), abs=0.1)


# Decisions a second


def test_decisions_a_second_are_views_over_the_time_inside_act(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = get_rules("classic")
    now = 0.0

    class Slow(Policy):
        def act(self, views: Any, rng: Any) -> Any:
            nonlocal now
            assert len(views) == len(rng)
            now += len(views) / per_second
            return np.zeros(len(views), np.int64)

    monkeypatch.setattr(pace.time, "perf_counter", lambda: now)
    views = pace.views_from_play(rules, 4)
    assert len(views) == pace.VIEWS
    for per_second in (1, 500, 100_000):
        assert pace.decisions_per_second(Slow(), rules, 4, views) == pytest.approx(per_second)


def test_views_for_it_have_a_choice_and_are_of_the_whole_hand() -> None:
    views = pace.views_from_play(get_rules("classic"), 4)
    choices = [int(view["legal"]).bit_count() + int(view["legal_more"]).bit_count() for view in views]
    assert min(choices) > 1
    assert set(views["seat"]) == {0, 1, 2, 3} and (views["tricks"] == 0).any() and (views["tricks"] > 3).any()


def test_no_library_of_an_extra_is_loaded_before_it_is_needed() -> None:
    script = (
        "import sys, goboom_env.cli, goboom_env.arena, goboom_env.arena.command\n"
        "assert not {'choix', 'matplotlib', 'tqdm', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
