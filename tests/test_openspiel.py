"""The OpenSpiel game: its own checks, the engine's results, the distribution of deals, perfect recall, and CFR."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from goboom_env import Game  # noqa: E402 - after the skip
from goboom_env.actions import action_number, action_text  # noqa: E402
from goboom_env.cards import Pack  # noqa: E402
from goboom_env.integrations import openspiel  # noqa: E402
from goboom_env.integrations.lazy_deal import Hand, Setup, hand_weights  # noqa: E402
from goboom_env.observation import encode, layout  # noqa: E402
from goboom_env.observation.view import cut, new_views  # noqa: E402
from goboom_env.rules import PRESETS, Rules  # noqa: E402

TINY_TRICK = dataclasses.replace(PRESETS["mini"], packs=((2, Pack.of("23A", "CD")),))
TINY_PILE = dataclasses.replace(
    PRESETS["jokers"], min_players=2, hand_size=1, packs=((2, Pack.of("2A", "C", copies=2, jokers=2)),), scoring="settle"
)
TINY_MIXED = dataclasses.replace(TINY_PILE, hand_size=2, packs=((2, Pack(("2C", "3C", "AD"), copies=2, jokers=1)),))
RESHUFFLING = dataclasses.replace(
    PRESETS["jokers"], min_players=2, hand_size=3, packs=((2, Pack.of("234A", jokers=3)),), reshuffle=True, turn_limit=60
)
openspiel.add_rules("tiny-trick", TINY_TRICK)
openspiel.add_rules("tiny-pile", TINY_PILE)
openspiel.add_rules("tiny-mixed", TINY_MIXED)
openspiel.add_rules("reshuffling", RESHUFFLING)

CASES = [("mini", 2), ("classic", 2), ("classic", 4), ("jokers", 4), ("rockaway", 3), ("jokers-aces", 3), ("dig", 3), ("reshuffling", 2)]


def load(rules: str, players: int, **options: Any) -> Any:
    return pyspiel.load_game("python_goboom", {"rules": rules, "players": players, **options})


def play(game: Any, rng: np.random.Generator) -> tuple[Any, list[list[int]]]:
    """A hand of random play, and the legal actions at each decision."""
    state, legal = game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        else:
            legal.append(state.legal_actions())
            state.apply_action(int(rng.choice(legal[-1])))
    return state, legal


def padded(cards: list[int], whole: Counter[int]) -> list[int]:
    """Cards in the given order, then the rest of `whole` in any."""
    return cards + sorted((whole - Counter(cards)).elements())


def replay(state: Any, legal: list[list[int]], rules: Rules) -> Game:
    """The same hand on the engine from a whole deck; every legal list is compared on the way."""
    hand, n = state.hand, state.num_players()
    pack = rules.pack_for(n)
    drawn = [
        taken[seat]
        for actor, _, taken in hand.events
        for seat in [(actor + k) % n for k in range(n)]  # of one action's cards the actor's left is served first, itself only alone
        if taken[seat] >= 0
    ]
    dealt = [hand.dealt[(hand.dealer + 1 + k) % n][row] for row in range(rules.hand_size) for k in range(n)]
    start = dealt + hand.turned
    jokers = sum(card == len(pack.cards) for card in hand.turned)
    rest = Counter(setup_counts(pack)) - Counter(start)
    queue = sum(rest.values()) + jokers
    order = padded(drawn[: sum(rest.values())], rest)
    text = [pack.types[card] for card in start + order]
    game = Game.from_deck(rules, n, text, hand.dealer, (hand.dealer + 1) % n, [0] * n)
    for (seat, action, _), numbers in zip(hand.events, legal, strict=True):
        assert game.turn == seat and game.legal() == [action_text(pack, number) for number in numbers]
        if game.needs_reshuffle(action):
            pile = Counter(played_cards(pack, game.records[1])) - Counter([pack.number(game.top)] if game.top else [])
            given = padded(drawn[queue : queue + sum(pile.values())], pile)
            queue += len(given)
            game.play_number(action, [pack.types[card] for card in given])
        else:
            game.play_number(action)
    return game


def setup_counts(pack: Pack) -> dict[int, int]:
    counts = dict.fromkeys(range(len(pack.cards)), pack.copies)
    counts[len(pack.cards)] = pack.jokers
    return counts


def played_cards(pack: Pack, s: Any) -> list[int]:
    cards = [card for card in range(len(pack.cards)) for field in ("played", "played2") if int(s[field]) >> card & 1]
    return cards + [len(pack.cards)] * int(s["jokers_played"])


def expected_returns(game: Game, reward: str) -> list[float]:
    """Payoffs from the scores by hand: own less the mean of the others', a penalty is a loss."""
    assert game.delta is not None
    n = game.num_players
    if reward == "win":
        return [0.0] * n if game.winner is None else [1.0 if seat == game.winner else -1 / (n - 1) for seat in range(n)]
    sign = -1 if game.rules.scoring == "penalty" else 1
    total = sum(game.delta)
    return [sign * (own - (total - own) / (n - 1)) / 100 for own in game.delta]


@pytest.mark.parametrize(("rules", "players"), CASES)
def test_open_spiel_random_simulation(rules: str, players: int) -> None:
    pyspiel.random_sim_test(load(rules, players), num_sims=2, serialize=True, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "players"), CASES[:4])
def test_long_open_spiel_random_simulation(rules: str, players: int) -> None:
    pyspiel.random_sim_test(load(rules, players, reward="win"), num_sims=20, serialize=True, verbose=False)


@pytest.mark.parametrize(("rules", "players"), CASES)
def test_returns_are_the_engines_payoffs(rules: str, players: int) -> None:
    values = openspiel.rules_of(rules)
    rng = np.random.default_rng(players)
    reshuffles = 0
    for reward in ("score", "win"):
        game = load(rules, players, reward=reward)
        for _ in range(63):  # 1,008 hands over all cases
            state, legal = play(game, rng)
            twin = replay(state, legal, values)
            assert twin.over
            assert state.returns() == pytest.approx(expected_returns(twin, reward), abs=1e-12)
            assert sum(state.returns()) == pytest.approx(0, abs=1e-9)
            assert game.min_utility() <= min(state.returns()) and max(state.returns()) <= game.max_utility()
            assert len(state.hand.events) <= game.max_game_length()
            reshuffles += len(twin.reshuffles)
    assert bool(reshuffles) == (rules == "reshuffling")


def tree_outcomes(rules: str) -> dict[Any, float]:
    """Probability of every hand under the policy of the highest legal action, from the chance nodes."""
    found: dict[Any, float] = defaultdict(float)

    def walk(state: Any, chance: float) -> None:
        if state.is_terminal():
            hand = state.hand
            found[hand.dealer, tuple(map(tuple, hand.dealt)), tuple(action for _, action, _ in hand.events)] += chance
        elif state.is_chance_node():
            assert len(state.chance_outcomes()) > 1
            for outcome, share in state.chance_outcomes():
                walk(state.child(outcome), chance * share)
        else:
            walk(state.child(state.legal_actions()[-1]), chance)

    walk(load(rules, 2).new_initial_state(), 1.0)
    return found


def shuffled_outcomes(rules: Rules) -> dict[Any, float]:
    """The same from every order of the deck."""
    pack = rules.pack_for(2)
    deck = sorted(Counter(setup_counts(pack)).elements())
    orders = sorted(set(itertools.permutations(deck)))  # cards alike make each equally often
    found: dict[Any, float] = defaultdict(float)
    for order in orders:
        for dealer in (0, 1):
            text = [pack.types[card] for card in order]
            game = Game.from_deck(rules, 2, text, dealer, 1 - dealer, [0, 0])
            hands = tuple(tuple(sorted(order[seat != 1 - dealer : 2 * rules.hand_size : 2])) for seat in (0, 1))
            actions = []
            while not game.over:
                actions.append(action_number(pack, game.legal()[-1]))
                game.play_number(actions[-1])
            found[dealer, hands, tuple(actions)] += 0.5 / len(orders)
    return found


@pytest.mark.parametrize(("name", "rules"), [("tiny-trick", TINY_TRICK), ("tiny-pile", TINY_PILE), ("tiny-mixed", TINY_MIXED)])
def test_chance_is_a_shuffled_deck(name: str, rules: Rules) -> None:
    expected = shuffled_outcomes(rules)
    assert len(expected) >= 20
    assert tree_outcomes(name) == pytest.approx(dict(expected), abs=1e-12)


def test_weights_of_a_hand_in_rising_order() -> None:
    # Three cards 0 0 1 (two of them alike), hands of two: {0, 0} in one of three, {0, 1} in two of three.
    assert hand_weights([2, 1], [], 2) == [(0, 3)]
    assert dict(hand_weights([2, 1], [0], 2)) == {0: 1, 1: 2}
    assert hand_weights([2, 1], [0, 1], 3) == []


def every_state(game: Any) -> Any:
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        yield state
        if not state.is_terminal():
            stack += [state.child(action) for action in state.legal_actions()]


def test_information_states_of_mini() -> None:
    """Perfect recall; all that a seat may know and no more; the tensor tells apart what the string does."""
    game = load("mini", 2, dealer=1)
    tensors: dict[str, bytes] = {}
    shown: dict[str, Any] = {}
    decisions = 0
    for state in every_state(game):
        if state.is_terminal() or state.is_chance_node():
            continue
        decisions += 1
        player = state.current_player()
        key = state.information_state_string(player)
        views = new_views(1)
        cut(state.hand.setup.tables[0], state.hand.states[0], player, views[0])
        facts = (views.tobytes(), tuple(state.legal_actions()), tuple(state.observation_tensor(player)), state.observation_string(player))
        assert shown.setdefault(key, facts) == facts
        tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
        assert tensors.setdefault(key, tensor) == tensor
    assert len(set(tensors.values())) == len(tensors)
    first = [key for key in tensors if key.startswith("p0 ") and len(key.split()) == 3]
    assert len(first) == 28  # the leader knows two cards of eight
    assert decisions > 2 * len(tensors)


def test_perfect_recall_of_own_past() -> None:
    game = load("mini", 2, dealer=1)
    before: dict[str, Any] = {}

    def walk(state: Any, past: tuple[Any, Any]) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            for action in state.legal_actions():
                walk(state.child(action), past)
            return
        player = state.current_player()
        key = state.information_state_string(player)
        assert before.setdefault(key, past[player]) == past[player]
        for action in state.legal_actions():
            own = (key, action)
            walk(state.child(action), (own, past[1]) if player == 0 else (past[0], own))

    walk(game.new_initial_state(), (None, None))
    assert len(before) > 1000


def test_observation_is_the_engines() -> None:
    rng = np.random.default_rng(3)
    game = load("jokers", 3)
    rules, sections = PRESETS["jokers"], layout("jokers", 3)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.hand.states is not None and not state.is_chance_node():
            for player in range(3):
                views = new_views(1)
                cut(state.hand.setup.tables[0], state.hand.states[0], player, views[0])
                own = encode(rules, 3, views)[0][0]
                observer = game.make_py_observer()
                observer.set_from(state, player)
                for name, place in sections.items():
                    assert name == "pad" or (observer.dict[name] == own[place]).all()
                assert (observer.tensor == np.array(state.observation_tensor(player))).all()
                hidden = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE))
                hidden.set_from(state, player)
                assert not {"hand", "legal"} & hidden.dict.keys() and (hidden.dict["size"] == observer.dict["size"]).all()
                whole = game.make_py_observer(
                    pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS)
                )
                whole.set_from(state, player)
                assert (whole.dict["hand"][player] == observer.dict["hand"]).all() and whole.dict["hand"].shape == (3, 52)
        state.apply_action(int(rng.choice(state.legal_actions())))


def test_copies_are_independent_and_pickle() -> None:
    rng = np.random.default_rng(4)
    game = load("reshuffling", 2)
    state = game.new_initial_state()
    while not state.is_terminal():
        texts = [str(state), *(state.information_state_string(player) for player in range(2))]
        twins = [state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
        action = int(rng.choice(state.legal_actions()))
        for twin in twins:
            assert [str(twin), *(twin.information_state_string(player) for player in range(2))] == texts
            twin.apply_action(action)
        assert [str(state), *(state.information_state_string(player) for player in range(2))] == texts
        state.apply_action(action)
        for twin in twins:
            assert str(twin) == str(state) and twin.history() == state.history()
            if state.hand.states is not None:
                assert twin.hand.states.tobytes() == state.hand.states.tobytes()


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="classik"):
        openspiel.GoBoomGame({"rules": "classik"})
    with pytest.raises(ValueError, match="num_players=5"):
        openspiel.GoBoomGame({"rules": "jokers", "players": 5})
    with pytest.raises(ValueError, match="reward='points'"):
        openspiel.GoBoomGame({"reward": "points"})
    with pytest.raises(ValueError, match="dealer=4"):
        openspiel.GoBoomGame({"dealer": 4})
    with pytest.raises(ValueError, match="taken"):
        openspiel.add_rules("mini", PRESETS["classic"])
    with pytest.raises(ValueError, match="no parameters"):
        load("mini", 2).make_py_observer(params={"colour": 1})


def test_a_fixed_dealer_is_no_chance_node() -> None:
    hand = Hand(Setup(PRESETS["mini"], 2, "score", 1))
    assert hand.dealer == 1 and sum(weight for _, weight in hand.weights) == 28


def test_cfr_solves_mini() -> None:
    game = pyspiel.load_game(f"cached_tree(game={load('mini', 2, dealer=1)})")
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    # A hundredth of the least that a hand can be won by: the loser keeps an ace, so 2 points between the seats.
    assert pyspiel.exploitability(game, policy) < 0.01 * 0.02
