"""The compiled loop of a batch of tables: the learner's action, the bots' turns, reward, next episode, observation, mask.

One row of each array is one table. Rows do not touch each other, so a batch may be split over threads anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine import kernels
from goboom_env.engine.bits import at
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.rng import next_word
from goboom_env.engine.state import COLLECT, MATCH_OVER, NONE, OWN, PLAYING, SETTLE
from goboom_env.observation.features import expand, pack_features, write_mask
from goboom_env.observation.view import cut_own, cut_seats, cut_with
from goboom_env.policies.scripted import choose, looks_at_seats
from goboom_env.rules import MAX_PLAYERS

MOST_REDEALS, MOST_HANDS = 1_000, 10_000
"""Deals in a row that ask the learner nothing, and hands in a match, after which a table is STUCK."""

LEARNER = -1
"""In place of a policy's number: the caller plays the seat."""

NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
"""`autoreset`, as `gymnasium.vector.AutoresetMode` defines it."""

ASK_LEARNER, ASK_POLICY, DONE, STUCK = 0, 1, 2, 3
"""`stop`: what a table waits for."""

RESET, LEARNER_ACTS, POLICY_ACTS = 0, 1, 2
"""`phase` of `step_rows`."""

LEGAL_ACTION, FORFEIT, BAD_POLICY_ACTION = 0, 1, 2
"""`illegal`: what the last action was."""

ROW = np.dtype(
    [
        ("policy", np.int8, MAX_PLAYERS),  # number of the policy on each seat, or LEARNER
        ("code", np.int8, MAX_PLAYERS),  # number of the rule bot on each seat, -1 for anything else
        # Fields that a step writes and then reads are as wide as they are read, or the read waits for the write.
        ("stop", np.int32),
        ("asked", np.int32),  # number of the policy to ask at ASK_POLICY
        ("illegal", np.int32),
        ("cards", np.uint64),  # legal actions, as `kernels.legal` gives them, where somebody is to be asked
        ("more", np.int32),
        ("acted", np.int32),  # seat that took the last learner action
        ("ended", np.bool_),  # the episode ended in this step
        ("delivered", np.bool_),  # the reward of this step is settled
        ("needs_reset", np.bool_),  # the episode is over and no other has begun
        ("untouched", np.bool_),  # the learner has not acted in this episode
        ("paid", np.bool_),  # some payoff is not 0
        ("payoff", np.float64, MAX_PLAYERS),  # of each seat since a reward was given last
    ],
    align=True,
)

MOST_POLICIES, MOST_IN_MIX = 127, 16
"""Most policies of a batch, and of the mix on one seat."""

OPTIONS = np.dtype(
    [(name, np.int32) for name in ("match_episodes", "win_reward", "auto", "autoreset", "learner", "learners", "mixed")]
    + [
        ("code", np.int8, MOST_POLICIES),  # number of the rule bot that each policy is, -1 for any other
        ("mix", np.int8, (MAX_PLAYERS, MOST_IN_MIX)),  # policies of each seat
        ("share", np.float64, (MAX_PLAYERS, MOST_IN_MIX)),  # running sums of their shares, 1 from the last on
    ],
    align=True,
)
"""Of a batch: `learner` is the seat the caller plays, -1 if there is not just one, and `learners` their number."""


@kernel
def payoff(t: Any, s: Any, o: Any, seat: int) -> float:
    """Payoff of a seat from the hand, or with win rewards in a match from the match, that just ended."""
    if o["win_reward"]:
        n = int64(t["num_players"])
        if o["match_episodes"]:
            if s["status"] != MATCH_OVER:
                return 0.0
            winners = 0
            for other in range(n):
                if kernels.is_match_winner(t, s, other):
                    winners += 1
            return 1.0 / winners if kernels.is_match_winner(t, s, seat) else -1.0 / (n - 1)
        if s["winner"] == NONE:
            return 0.0
        return 1.0 if s["winner"] == seat else -1.0 / (n - 1)
    return kernels.score_payoff(t, s["delta"], seat)


@kernel
def worst_payoff(t: Any, win_reward: int) -> float:
    """A payoff that no hand goes below: every point of the pack lost, as the scoring counts it."""
    n = int64(t["num_players"])
    if win_reward:
        return -1.0 / (n - 1)
    whole = int64(t["max_points"]) / 100.0
    if t["scoring"] == SETTLE:
        return -whole * n / (n - 1)
    if t["scoring"] == COLLECT and not (t["pile"] and t["blocked"] == OWN):
        return -whole / (n - 1)
    return -whole


@kernel
def begin(t: Any, o: Any, s: Any, row: Any) -> None:
    """Clear scores and payoffs for an episode and draw its dealer and its opponents. Deal next."""
    n = int64(t["num_players"])
    kernels.start_match(t, s)
    if o["mixed"]:
        for seat in range(n):
            share = int64(next_word(s["policy_stream"]) >> np.uint64(11)) / 9007199254740992.0
            k = 0
            while share >= o["share"][seat, k]:
                k += 1
            policy = int64(o["mix"][seat, k])
            row["policy"][seat] = policy
            row["code"][seat] = o["code"][policy] if policy >= 0 else -1
    row["needs_reset"] = False
    row["untouched"] = True
    row["paid"] = False
    for seat in range(n):
        row["payoff"][seat] = 0.0


@kernel
def advance(t: Any, o: Any, s: Any, row: Any, v: Any, action: int) -> None:
    """Take an action, unless it is -1, and run the table until the learner or a policy outside compiled code must choose,
    or the episode is over. A table that `needs_reset` begins its next episode."""
    n = int64(t["num_players"])
    redeals = 0
    while True:
        if row["needs_reset"] or s["status"] != PLAYING:
            restart = bool(row["needs_reset"])
            if not restart:
                row["paid"] = True
                for seat in range(n):
                    row["payoff"][seat] += payoff(t, s, o, seat)
                if not o["match_episodes"] or s["status"] == MATCH_OVER:
                    # Over before the learner had a choice: deal again from the same stream.
                    restart = bool(row["untouched"]) and o["learners"] > 0
                    if not restart:
                        row["stop"] = DONE
                        return
            redeals += restart
            if redeals > MOST_REDEALS or s["hand_number"] >= MOST_HANDS:
                row["stop"] = STUCK
                row["needs_reset"] = True
                return
            if restart:
                begin(t, o, s, row)
            else:
                kernels.next_hand(t, s)
            kernels.shuffle_deck(t, s)
            kernels.deal(t, s)
            continue
        if action < 0:
            cards, more = kernels.legal(t, s)
            seat = int64(s["turn"])
            action = kernels.only_action(t, cards, more)
            policy = int64(row["policy"][seat])
            if action < 0 or (policy < 0 and not o["auto"]):
                row["cards"] = cards
                row["more"] = more
                if policy < 0:
                    row["stop"] = ASK_LEARNER
                    return
                if row["code"][seat] < 0:
                    row["stop"] = ASK_POLICY
                    row["asked"] = policy
                    return
                code = int64(row["code"][seat])
                cut_own(t, s, seat, cards, more, v)
                if looks_at_seats(code):
                    cut_seats(t, s, seat, v)
                action = choose(code, t, v, next_word(s["policy_stream"]))
        kernels.apply(t, s, action)
        action = -1


@kernel
def forfeit_payoff(t: Any, s: Any, o: Any, seat: int) -> float:
    """What a seat gets when the seat to act forfeits."""
    worst = worst_payoff(t, int64(o["win_reward"]))
    return worst if seat == int64(s["turn"]) else -worst / (int64(t["num_players"]) - 1)


@kernel
def forfeit(t: Any, o: Any, s: Any, row: Any) -> None:
    """End the episode at the worst payoff for the seat to act; the others share what it loses."""
    row["paid"] = True
    for seat in range(int64(t["num_players"])):
        row["payoff"][seat] += forfeit_payoff(t, s, o, seat)
    row["illegal"] = FORFEIT
    row["stop"] = DONE


@hot
def end_episode(t: Any, s: Any, o: Any, row: Any, i: int, payoffs: Any, scores: Any, winners: Any, forfeits: Any) -> None:
    """Tell of an episode that ended at table i. An episode begins at scores of 0, so those are its points."""
    row["ended"] = True
    row["needs_reset"] = True
    winners[i] = s["winner"]
    forfeits[i] = row["illegal"] == FORFEIT
    for seat in range(int64(t["num_players"])):
        if row["illegal"] == FORFEIT:
            total = forfeit_payoff(t, s, o, seat)
            if not o["win_reward"]:
                total += kernels.score_payoff(t, s["score"], seat)
        else:
            total = payoff(t, s, o, seat) if o["win_reward"] else kernels.score_payoff(t, s["score"], seat)
        payoffs[i, seat] = total
        scores[i, seat] = s["score"][seat]


@hot
def deliver(t: Any, o: Any, row: Any) -> float:
    """The reward of this step: what the learner's seat, or the seat that acted, was paid since the last reward."""
    row["delivered"] = True
    if not row["paid"]:
        return 0.0  # most steps: the payoffs stay untouched
    reward = row["payoff"][int64(o["learner"]) if o["learner"] >= 0 else int64(row["acted"])]
    row["paid"] = False
    for seat in range(int64(t["num_players"])):
        row["payoff"][seat] = 0.0
    return reward


@hot
def observe(t: Any, o: Any, s: Any, row: Any, v: Any) -> None:
    """The learner's view: of the seat to act, or after an episode, where nothing is legal, of the seat that acted last."""
    seat = int64(s["turn"])
    done = row["stop"] == DONE
    if done:
        seat = int64(o["learner"]) if o["learner"] >= 0 else int64(row["acted"])
        row["cards"] = np.uint64(0)
        row["more"] = 0
    cut_with(t, s, seat, row["cards"], int64(row["more"]), v)
    if done:
        v["turn"] = NONE
        v["drawn"] = NONE


@kernel
def step_rows(
    tables: Any,
    options: Any,
    states: Any,
    rows: Any,
    views: Any,
    bits: Any,
    last_bits: Any,
    out: Any,
    masks: Any,
    rewards: Any,
    ended: Any,
    seats: Any,
    payoffs: Any,
    scores: Any,
    winners: Any,
    forfeits: Any,
    indices: Any,
    actions: Any,
    phase: int,
    start: int,
    stop: int,
    scratch: int,
) -> tuple[int, int]:
    """Move the tables indices[start:stop] on; returns how many wait for a policy outside compiled code, and how many ended.

    `phase` RESET begins an episode, LEARNER_ACTS takes `actions[k]` of the learner at table indices[k], POLICY_ACTS that of
    the policy asked there. `out` and `masks` get the learner's observation and mask; `last_bits` the features of an episode
    that ended, where SAME_STEP has begun another. After an episode no action is judged, so its mask allows all. Into `payoffs`
    and the three after it goes what is told of episodes that ended; the rows of other tables stay as they are.
    """
    t, o, v, b = tables[0], options[0], views[scratch], bits[scratch]
    waiting, over = 0, 0
    for k in range(start, stop):
        i = at(indices[k])
        s, row = states[i], rows[i]
        action = -1
        if phase != POLICY_ACTS:
            row["illegal"] = LEGAL_ACTION
            row["ended"] = False
            row["delivered"] = False
        if phase == RESET or row["needs_reset"]:
            row["needs_reset"] = True
            row["delivered"] = True
            rewards[i] = 0.0
        else:
            action = int64(actions[k])
            legal = kernels.is_among(t, row["cards"], int64(row["more"]), action)
            if phase == POLICY_ACTS:
                if not legal:
                    row["illegal"] = BAD_POLICY_ACTION
                    waiting += 1
                    continue
            else:
                row["acted"] = s["turn"]
                row["untouched"] = False
                if not legal:
                    forfeit(t, o, s, row)
                    action = -1
        while True:
            if phase == POLICY_ACTS or row["illegal"] != FORFEIT or row["ended"]:
                advance(t, o, s, row, v, action)
                action = -1
            if row["stop"] == ASK_POLICY or row["stop"] == STUCK:
                waiting += 1
                break
            if row["stop"] == DONE:
                over += 1
                end_episode(t, s, o, row, int64(i), payoffs, scores, winners, forfeits)
            if not row["delivered"]:
                rewards[i] = deliver(t, o, row)
            observe(t, o, s, row, v)
            if row["stop"] == DONE and o["autoreset"] == SAME_STEP:
                pack_features(t, v, last_bits[i])
                continue
            pack_features(t, v, b)
            expand(b, out, int64(i))
            write_row_mask(t, row, masks, int64(i))
            ended[i] = row["ended"]
            seats[i] = v["seat"]
            break
    return waiting, over


@hot
def write_row_mask(t: Any, row: Any, masks: Any, i: int) -> None:
    """The learner's mask at table i; all 1 after an episode, where no action is judged."""
    if row["needs_reset"]:
        for number in range(masks.shape[1]):
            masks[i, number] = 1
    else:
        write_mask(t, row["cards"], int64(row["more"]), masks, i)


@kernel
def write_masks(tables: Any, rows: Any, masks: Any) -> None:
    """The learner's masks at all tables, as the last step left them."""
    for i in range(len(rows)):
        write_row_mask(tables[0], rows[i], masks, i)


@kernel
def observe_idle(tables: Any, states: Any, i: int, seat: int, views: Any, bits: Any, out: Any) -> None:
    """The view of a seat that is not to act, whatever `turn` says, into the first row of `out`."""
    cut_with(tables[0], states[i], seat, np.uint64(0), 0, views[0])
    pack_features(tables[0], views[0], bits[0])
    expand(bits[0], out, 0)


@kernel
def out_of_range(actions: Any, num_actions: int) -> int:
    """Place of the first number that is no action, -1 if all are."""
    most = np.uint64(0)
    for k in range(len(actions)):  # several at once, which a loop with a way out would not be; a negative number is a huge one
        most = max(most, np.uint64(actions[k]))
    if most < np.uint64(num_actions):
        return -1
    k = 0
    while 0 <= actions[k] < num_actions:
        k += 1
    return k


@kernel
def ask(tables: Any, states: Any, rows: Any, indices: Any, views: Any, words: Any) -> None:
    """Views of the seats to act at the given tables, and a word of each table's policy stream."""
    for k in range(len(indices)):
        i = int64(indices[k])
        s, row = states[i], rows[i]
        cut_with(tables[0], s, int64(s["turn"]), row["cards"], int64(row["more"]), views[k])
        words[k] = next_word(s["policy_stream"])


@kernel
def expand_last(ended: Any, last_bits: Any, last_out: Any) -> None:
    """Write the last features of the episodes that ended, in the order of their tables."""
    count = 0
    for i in range(len(ended)):
        if ended[i]:
            expand(last_bits[i], last_out, count)
            count += 1
