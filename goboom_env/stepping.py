"""The compiled loop of a batch of tables: the learner's action, the bots' turns, reward, next episode, observation, mask.

One row of each array is one table. Rows do not touch each other, so a batch may be split over threads anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from goboom_env.engine import kernels
from goboom_env.engine.jit import kernel
from goboom_env.engine.rng import next_word
from goboom_env.engine.state import COLLECT, MATCH_OVER, NONE, OWN, PENALTY, PLAYING, SETTLE
from goboom_env.observation.features import write, write_mask
from goboom_env.observation.view import cut, cut_with
from goboom_env.policies.scripted import choose
from goboom_env.rules import MAX_PLAYERS

LEARNER = -1
"""In `seating`: the caller plays the seat."""

NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
"""`autoreset`, as `gymnasium.vector.AutoresetMode` defines it."""

ASK_LEARNER, ASK_POLICY, DONE = 0, 1, 2
"""`stop`: what a table waits for."""

RESET, LEARNER_ACTS, POLICY_ACTS = 0, 1, 2
"""`phase` of `step_rows`."""

LEGAL_ACTION, FORFEIT, BAD_POLICY_ACTION = 0, 1, 2
"""`illegal`: what the last action was."""

ROW = np.dtype(
    [
        ("policy", np.int16, MAX_PLAYERS),  # number of the policy on each seat, or LEARNER
        ("code", np.int16, MAX_PLAYERS),  # number of the rule bot on each seat, -1 for anything else
        ("stop", np.int8),
        ("asked", np.int16),  # number of the policy to ask at ASK_POLICY
        ("illegal", np.int8),
        ("acted", np.int8),  # seat that took the last learner action
        ("ended", np.bool_),  # the episode ended in this step
        ("delivered", np.bool_),  # the reward of this step is settled
        ("needs_reset", np.bool_),  # the episode is over and no other has begun
        ("untouched", np.bool_),  # the learner has not acted in this episode
        ("payoff", np.float64, MAX_PLAYERS),  # of each seat since a reward was given last
        ("total", np.float64, MAX_PLAYERS),  # of each seat in this episode
        ("last_total", np.float64, MAX_PLAYERS),  # of each seat in the last episode that ended
        ("scores", np.int32, MAX_PLAYERS),  # match scores at the end of the last episode that ended
        ("winner", np.int8),  # of the last hand of that episode, NONE when blocked
    ],
    align=True,
)

OPTIONS = np.dtype([(name, np.int32) for name in ("match_episodes", "win_reward", "auto", "autoreset", "learner", "learners", "mixed")])
"""Of a batch: `learner` is the seat the caller plays, -1 if there is not just one, and `learners` their number."""


@kernel
def payoff(t: Any, s: Any, o: Any, seat: int) -> float:
    """Payoff of a seat from the hand, or with win rewards in a match from the match, that just ended."""
    n = int(t["num_players"])
    if o["win_reward"]:
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
    others = 0
    for other in range(n):
        if other != seat:
            others += int(s["delta"][other])
    value = (int(s["delta"][seat]) - others / (n - 1)) / 100.0
    return -value if t["scoring"] == PENALTY else value


@kernel
def worst_payoff(t: Any, win_reward: int) -> float:
    """A payoff that no hand goes below: every point of the pack lost, as the scoring counts it."""
    n = int(t["num_players"])
    if win_reward:
        return -1.0 / (n - 1)
    whole = int(t["max_points"]) / 100.0
    if t["scoring"] == SETTLE:
        return -whole * n / (n - 1)
    if t["scoring"] == COLLECT and not (t["pile"] and t["blocked"] == OWN):
        return -whole / (n - 1)
    return -whole


@kernel
def begin(t: Any, o: Any, s: Any, row: Any, codes: Any, mix: Any, shares: Any) -> None:
    """Clear scores and payoffs for an episode and draw its dealer and its opponents. Deal next."""
    n = int(t["num_players"])
    kernels.start_match(t, s)
    if o["mixed"]:
        for seat in range(n):
            share = np.int64(next_word(s["policy_stream"]) >> np.uint64(11)) / 9007199254740992.0
            k = 0
            while k + 1 < shares.shape[1] and share >= shares[seat, k]:
                k += 1
            policy = int(mix[seat, k])
            row["policy"][seat] = policy
            row["code"][seat] = codes[policy] if policy >= 0 else -1
    row["needs_reset"] = False
    row["untouched"] = True
    for seat in range(n):
        row["payoff"][seat] = 0.0
        row["total"][seat] = 0.0


@kernel
def advance(t: Any, o: Any, s: Any, row: Any, codes: Any, mix: Any, shares: Any, v: Any, action: int) -> None:
    """Take an action, unless it is -1, and run the table until the learner or a policy outside compiled code must choose,
    or the episode is over. A table that `needs_reset` begins its next episode."""
    n = int(t["num_players"])
    while True:
        if row["needs_reset"] or s["status"] != PLAYING:
            restart = bool(row["needs_reset"])
            if not restart:
                for seat in range(n):
                    value = payoff(t, s, o, seat)
                    row["payoff"][seat] += value
                    row["total"][seat] += value
                if not o["match_episodes"] or s["status"] == MATCH_OVER:
                    # Over before the learner had a choice: deal again from the same stream.
                    restart = bool(row["untouched"]) and o["learners"] > 0
                    if not restart:
                        row["stop"] = DONE
                        return
            if restart:
                begin(t, o, s, row, codes, mix, shares)
            else:
                kernels.next_hand(t, s)
            kernels.shuffle_deck(t, s)
            kernels.deal(t, s)
            continue
        if action < 0:
            cards, more = kernels.legal(t, s)
            seat = int(s["turn"])
            action = kernels.only_action(t, cards, more)
            policy = int(row["policy"][seat])
            if action < 0 or (policy < 0 and not o["auto"]):
                if policy < 0:
                    row["stop"] = ASK_LEARNER
                    return
                if row["code"][seat] < 0:
                    row["stop"] = ASK_POLICY
                    row["asked"] = policy
                    return
                cut_with(t, s, seat, cards, more, v)
                action = choose(int(row["code"][seat]), t, v, next_word(s["policy_stream"]))
        kernels.apply(t, s, action)
        action = -1


@kernel
def forfeit(t: Any, o: Any, s: Any, row: Any) -> None:
    """End the episode at the worst payoff for the seat to act; the others share what it loses."""
    n = int(t["num_players"])
    worst = worst_payoff(t, int(o["win_reward"]))
    offender = int(s["turn"])
    for seat in range(n):
        value = worst if seat == offender else -worst / (n - 1)
        row["payoff"][seat] += value
        row["total"][seat] += value
    row["illegal"] = FORFEIT
    row["stop"] = DONE


@kernel
def end_episode(t: Any, s: Any, row: Any) -> None:
    """Keep what is told of an episode that ended."""
    row["ended"] = True
    row["needs_reset"] = True
    row["winner"] = s["winner"]
    for seat in range(int(t["num_players"])):
        row["last_total"][seat] = row["total"][seat]
        row["scores"][seat] = s["score"][seat]


@kernel
def deliver(t: Any, o: Any, row: Any) -> float:
    """The reward of this step: what the learner's seat, or the seat that acted, was paid since the last reward."""
    reward = row["payoff"][int(o["learner"]) if o["learner"] >= 0 else int(row["acted"])]
    row["delivered"] = True
    for seat in range(int(t["num_players"])):
        row["payoff"][seat] = 0.0
    return reward


@kernel
def observe(t: Any, o: Any, s: Any, row: Any, v: Any) -> None:
    """The learner's view: of the seat to act, or after an episode, where nothing is legal, of the seat that acted last."""
    if row["stop"] != DONE:
        cut(t, s, int(s["turn"]), v)
        return
    cut_with(t, s, int(o["learner"]) if o["learner"] >= 0 else int(row["acted"]), np.uint64(0), np.int64(0), v)
    v["turn"] = NONE
    v["drawn"] = NONE


@kernel
def step_rows(
    tables: Any,
    options: Any,
    states: Any,
    rows: Any,
    codes: Any,
    mix: Any,
    shares: Any,
    indices: Any,
    start: int,
    stop: int,
    actions: Any,
    phase: int,
    views: Any,
    bits: Any,
    scratch: int,
    out: Any,
    masks: Any,
    rewards: Any,
    ended: Any,
    last_out: Any,
    last_masks: Any,
) -> int:
    """Move the tables indices[start:stop] on; returns how many of them wait for a policy outside compiled code.

    `phase` RESET begins an episode, LEARNER_ACTS takes `actions[k]` of the learner at table indices[k], POLICY_ACTS that of
    the policy asked there. `out` and `masks` get the learner's observation and mask; `last_out` and `last_masks` those of an
    episode that ended, where SAME_STEP has begun another. After an episode no action is judged, so its mask allows all.
    """
    t, o, v, b = tables[0], options[0], views[scratch], bits[scratch]
    waiting = 0
    for k in range(start, stop):
        i = int(indices[k])
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
            action = int(actions[k])
            legal = kernels.is_legal(t, s, action)
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
        while True:
            if phase == POLICY_ACTS or row["illegal"] != FORFEIT or row["ended"]:
                advance(t, o, s, row, codes, mix, shares, v, action)
                action = -1
            if row["stop"] == ASK_POLICY:
                waiting += 1
                break
            if row["stop"] == DONE:
                end_episode(t, s, row)
            if not row["delivered"]:
                rewards[i] = deliver(t, o, row)
            observe(t, o, s, row, v)
            again = row["stop"] == DONE and o["autoreset"] == SAME_STEP
            target, target_masks = (last_out, last_masks) if again else (out, masks)
            write(t, v, b, target, i)
            if row["stop"] == DONE:
                for number in range(target_masks.shape[1]):
                    target_masks[i, number] = 1
            else:
                write_mask(t, v, target_masks, i)
            if not again:
                ended[i] = row["ended"]
                break
    return waiting


@kernel
def ask(tables: Any, states: Any, indices: Any, views: Any, words: Any) -> None:
    """Views of the seats to act at the given tables, and a word of each table's policy stream."""
    for k in range(len(indices)):
        s = states[int(indices[k])]
        cut(tables[0], s, int(s["turn"]), views[k])
        words[k] = next_word(s["policy_stream"])
