"""`Table`: a batch of tables with a policy on each seat, run to the learner's next decision."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goboom_env import stepping
from goboom_env.actions import IllegalActionError, num_actions
from goboom_env.calls import Calls
from goboom_env.engine.game import refusal
from goboom_env.engine.rng import seed_words
from goboom_env.engine.scoring import score_payoff
from goboom_env.engine.state import Records, compile_rules, new_states
from goboom_env.observation import features
from goboom_env.observation.view import new_views
from goboom_env.policies import Policy
from goboom_env.policies.scripted import BOTS
from goboom_env.rollout import Rollout, new_rollout, rollout_rows
from goboom_env.rules import Rules, get_rules, near_miss

Seat = Sequence[tuple[Policy, float]] | None
"""Policies of a seat with the shares in which they are drawn each episode, or None for the learner."""

_UINT8, _INT8, _INT32, _INT64, _BOOL = (np.dtype(kind) for kind in (np.uint8, np.int8, np.int32, np.int64, np.bool_))
"""Looked up once: arrays are made at every step."""

EPISODES, REWARDS, FORCED = ("hand", "match"), ("score", "win"), ("auto", "ask")


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """`ValueError` with the nearest known word for an option that is none of them."""
    if value not in known:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(known)}{near_miss(value, known)}")


class Table:
    """A batch of tables of one rule set.

    Args:
        rules: A preset's name or a `Rules` value.
        seats: For each seat its policies with shares, or None where the learner sits.
        num_tables: Tables in the batch.
        episode: `hand` or `match`.
        reward: `score` or `win`, see `goboom_env.envs.single.GoBoomEnv`.
        forced: `auto` plays the learner's only legal action for it, `ask` hands it over.
        autoreset: `stepping.NEXT_STEP`, `SAME_STEP` or `DISABLED`.
        num_threads: Threads to split large batches over; results do not depend on it.

    Attributes:
        observations: Of the learner's seat, or with several learner seats of the seat to act; shape (tables, features), uint8.
        masks: Legal actions, shape (tables, actions), int8; all 1 at the end of an episode, where no action is judged.
        rewards: Of the last step, shape (tables,), float64.
        ended: Whether the episode ended in the last step, shape (tables,), bool.
        acting: Seat that observation and mask belong to, shape (tables,), int64.
        payoffs: Of each seat in the episode that ended in the last step, shape (tables, seats), float64, 0 where none ended.
        scores: Match scores at its end, shape (tables, seats), int32.
        winners: Winner of its last hand, `state.NONE` when blocked, shape (tables,), int64.
        forfeits: Whether an illegal action ended it, shape (tables,), bool.
        num_ended: Number of tables whose episode ended in the last step.
        rows: What else is known of the last step, records of `stepping.ROW`.
        states: The tables' STATE records.

    The first nine are fresh arrays after each call, those handed out before never change.
    """

    def __init__(
        self,
        rules: str | Rules,
        seats: Sequence[Seat],
        num_tables: int = 1,
        *,
        episode: str = "hand",
        reward: str = "score",
        forced: str = "auto",
        autoreset: int = stepping.DISABLED,
        num_threads: int = 1,
    ) -> None:
        check_choice("episode", episode, EPISODES)
        check_choice("reward", reward, REWARDS)
        check_choice("forced", forced, FORCED)
        for name, value in (("tables", num_tables), ("threads", num_threads)):
            if operator.index(value) < 1:
                raise ValueError(f"the number of {name} must be 1 or more, got {value}")
        self.rules = get_rules(rules)
        self.num_players = len(seats)
        self.episode = episode
        self.num_tables = num_tables
        self.num_threads = num_threads
        self.pack = self.rules.pack_for(self.num_players)
        self.num_actions = num_actions(self.pack)
        self.num_features = features.size(self.rules, self.num_players)
        self._tables = compile_rules(self.rules, self.num_players)
        self.states = new_states(num_tables)
        self.rows = np.zeros(num_tables, stepping.ROW)
        self.rows["needs_reset"] = True
        learners = [seat for seat, policies in enumerate(seats) if policies is None]
        self.learner = learners[0] if len(learners) == 1 else -1
        self._options = np.zeros(1, stepping.OPTIONS)
        self._seat_policies(seats)
        option = self._options[0]
        option["match_episodes"], option["win_reward"] = episode == "match", reward == "win"
        option["auto"], option["autoreset"] = forced == "auto", autoreset
        option["learner"], option["learners"] = self.learner, len(learners)
        self._views = new_views(2 * num_threads)
        self._bits = np.zeros(2 * num_threads, features.BITS)
        self._all = np.arange(num_tables, dtype=np.int64)
        self._no_actions = np.zeros(num_tables, np.int64)
        self._last_bits = np.zeros(num_tables if autoreset == stepping.SAME_STEP else 0, features.BITS)
        self._fixed = (self._tables, self._options, self.states, self.rows, self._views, self._bits, self._last_bits)
        self._refuses_finished = autoreset == stepping.DISABLED
        self._seeded = False
        self._interrupted = False
        self.num_ended = 0
        self._calls = Calls(num_threads)
        self._new_outputs()

    def _seat_policies(self, seats: Sequence[Seat]) -> None:
        """Number the policies, and lay out which may sit where."""
        self.policies: list[Policy] = []
        numbers: dict[int, int] = {}
        most = max([len(policies) for policies in seats if policies is not None], default=1)
        if most > stepping.MOST_IN_MIX:
            raise ValueError(f"a mix of {most} policies is too large: at most {stepping.MOST_IN_MIX} on a seat")
        option = self._options[0]
        option["mixed"] = most > 1
        option["mix"], option["share"], option["code"] = stepping.LEARNER, 1.0, -1
        for seat, policies in enumerate(seats):
            for k, (policy, _) in enumerate(policies or ()):
                if id(policy) not in numbers:
                    numbers[id(policy)] = len(self.policies)
                    self.policies.append(policy.bind(self.rules, self.num_players))
                option["mix"][seat, k] = numbers[id(policy)]
            shares = np.cumsum([share for _, share in policies or ()])[:-1]  # the last stays 1, whatever rounding does
            option["share"][seat, : len(shares)] = shares
        if len(self.policies) > stepping.MOST_POLICIES:
            raise ValueError(f"{len(self.policies)} policies are too many: at most {stepping.MOST_POLICIES} at a batch of tables")
        option["code"][: len(self.policies)] = [policy.code for policy in self.policies]
        self.seat(np.repeat(option["mix"][None, : self.num_players, 0], self.num_tables, axis=0))

    def seat(self, numbers: NDArray[np.int8]) -> None:
        """Seat policies by their numbers in `policies`, shape (tables, seats); -1 is the learner."""
        self.rows["policy"][:, : self.num_players] = numbers
        self.rows["code"][:, : self.num_players] = np.where(numbers < 0, -1, self._options[0]["code"][numbers])

    def _new_outputs(self) -> None:
        n = self.num_tables
        self.observations = np.empty((n, self.num_features), _UINT8)
        self.masks = np.empty((n, self.num_actions), _INT8)
        self.rewards = np.empty(n)
        self.ended = np.empty(n, _BOOL)
        self.acting = np.empty(n, _INT64)
        self._new_ends()

    def _new_ends(self) -> None:
        n, seats = self.num_tables, self.num_players
        self.payoffs = np.zeros((n, seats))
        self.scores = np.zeros((n, seats), _INT32)
        self.winners = np.zeros(n, _INT64)
        self.forfeits = np.zeros(n, _BOOL)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """The tables between two calls, as arrays of plain numbers: records as bytes, shape (tables, bytes), uint8."""
        records = {name: getattr(self, name).view(np.uint8).reshape(self.num_tables, -1).copy() for name in ("states", "rows")}
        return records | {name: getattr(self, name).copy() for name in ("observations", "masks", "acting")}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state that `get_state` gave; `ValueError` where it is of other tables, and nothing has changed."""
        mine = self.get_state()
        for name, array in mine.items():
            if name not in state or state[name].shape != array.shape or state[name].dtype != array.dtype:
                found = "is missing" if name not in state else f"has shape {state[name].shape}"
                raise ValueError(f"{name} of the state {found}, these tables need {array.shape}")
        self._new_outputs()
        for name in mine:
            target = getattr(self, name)
            target.view(np.uint8).reshape(-1)[:] = np.ascontiguousarray(state[name]).view(np.uint8).reshape(-1)
        self._seeded, self._interrupted = True, False

    def reset(
        self,
        seeds: Sequence[int | None] | None = None,
        which: NDArray[np.bool_] | None = None,
        words: NDArray[np.uint64] | None = None,
    ) -> None:
        """Begin a new episode at all tables, or at those of a boolean array; the other tables do not change.

        Args:
            seeds: A seed for each table; None, or None for a table, goes on with the table's own streams.
            which: Tables to reset, shape (tables,), bool.
            words: Instead of seeds the streams' own words, shape (tables, 4), none of them 0.
        """
        if which is not None and not self._seeded:
            raise RuntimeError("the tables were never reset: reset all of them first, without a mask")
        if which is not None and self._interrupted:
            raise RuntimeError("the last call was interrupted: call reset for all tables, without a mask")
        indices = self._all if which is None else np.flatnonzero(which)
        if words is not None:
            self.states["deal_stream"], self.states["policy_stream"] = words[:, :2], words[:, 2:]
        elif seeds is not None or not self._seeded:
            self._seed(seeds, indices)
        self._seeded = True
        if which is None:
            self._new_outputs()
        else:
            self.observations, self.masks = self.observations.copy(), self.masks.copy()
            self.rewards, self.ended, self.acting = self.rewards.copy(), self.ended.copy(), self.acting.copy()
            self._new_ends()
        self._run(indices, self._no_actions, stepping.RESET)

    def _check_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        """The learner's actions as an array, or `ValueError`."""
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_tables,) or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_tables} whole numbers of shape ({self.num_tables},), "
                f"got {numbers.dtype} of shape {numbers.shape}"
            )
        numbers = np.ascontiguousarray(numbers, _INT64)
        wrong = self._calls(stepping.out_of_range, numbers, self.num_actions)
        if wrong >= 0:
            raise ValueError(f"action {numbers[wrong]} is out of range: the action space has 0 to {self.num_actions - 1}")
        return numbers

    def _seed(self, seeds: Sequence[int | None] | None, indices: NDArray[np.int64]) -> None:
        """Streams from seeds, and from the system's entropy for tables that never had any."""
        entropy = np.random.SeedSequence()
        words = {}
        for i in indices if self._seeded else self._all:
            seed = None if seeds is None else seeds[i]
            if seed is not None or not self._seeded:
                words[i] = seed_words(seed, None if seed is not None else entropy)
        for i, four in words.items():  # once every seed is known to be good
            self.states[i]["deal_stream"], self.states[i]["policy_stream"] = four[:2], four[2:]

    def step(self, actions: ArrayLike) -> None:
        """Take the learner's action at every table and run each to its next decision or the end of its episode.

        Under NEXT_STEP a table whose episode ended ignores its action and begins the next.

        Raises:
            ValueError: `actions` has another shape, or holds anything but action ids; nothing has changed.
            RuntimeError: A table was never reset or, under DISABLED, its episode is over; nothing has changed.
        """
        numbers = self._check_actions(actions)
        self._check_ready()
        if self._refuses_finished and self.rows["needs_reset"].any():
            raise RuntimeError(f"the episode at table {int(np.argmax(self.rows['needs_reset']))} is over: call reset before step")
        self._new_outputs()
        self._run(self._all, numbers, stepping.LEARNER_ACTS)

    def _check_ready(self) -> None:
        if not self._seeded:
            raise RuntimeError("the tables were never reset: call reset before step")
        if self._interrupted:
            raise RuntimeError("the last call was interrupted, by an error in a policy perhaps: call reset before step")

    def _write_masks(self, masks: NDArray[np.int8]) -> NDArray[np.int8]:
        """The masks once more: whoever got `masks` may have written into them."""
        self._calls(stepping.write_masks, self._tables, self.rows, masks)
        return masks

    def refuse(self, actions: ArrayLike) -> str | None:
        """Why the first illegal one of the learner's actions is not legal, None if all are; `ValueError` as `step`'s."""
        numbers = self._check_actions(actions)
        legal = self._write_masks(np.empty((self.num_tables, self.num_actions), _INT8))[self._all, numbers].astype(bool)
        if legal.all():
            return None
        i = int(np.argmin(legal))
        return refusal(self.pack, self._tables[0], self.states[i], int(numbers[i]))

    def _run(self, indices: NDArray[np.int64], actions: NDArray[np.int64], phase: int) -> None:
        """One compiled call; then, as long as tables wait for policies outside it, one call for all that do."""
        self._interrupted = True  # until all is done: a policy may raise
        waiting, self.num_ended = self._step_rows(indices, actions, phase)
        while waiting:
            self._check_stuck(indices)
            asking = indices[self.rows["stop"][indices] == stepping.ASK_POLICY]
            replies = np.empty(len(asking), np.int64)
            asked = self.rows["asked"][asking]
            for number in np.unique(asked):
                mine = np.flatnonzero(asked == number)
                views, words = new_views(len(mine)), np.empty(len(mine), np.uint64)
                stepping.ask(self._tables, self.states, self.rows, asking[mine], views, words)
                replies[mine] = self._ask(self.policies[number], views, words)
            waiting, over = self._step_rows(asking, replies, stepping.POLICY_ACTS)
            self.num_ended += over
            self._check_replies(asking, replies)
        self._interrupted = False

    def _check_stuck(self, indices: NDArray[np.int64]) -> None:
        if (self.rows["stop"][indices] == stepping.STUCK).any():
            raise RuntimeError(
                f"these rules come to no end: {stepping.MOST_REDEALS:,} deals in a row gave the learner no choice "
                f'(try forced="ask"), or a match went over {stepping.MOST_HANDS:,} hands'
            )

    @staticmethod
    def _ask(policy: Policy, views: Records, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """A policy's actions, or `ValueError` for anything but whole numbers, one a view."""
        answer = np.asarray(policy.act(views, words))
        if answer.shape != (len(views),) or answer.dtype.kind not in "iu":
            raise ValueError(
                f"policy {policy.name!r} must give whole numbers of shape ({len(views)},), got {answer.dtype} of shape {answer.shape}"
            )
        return answer.astype(np.int64)

    def _check_replies(self, asking: NDArray[np.int64], replies: NDArray[np.int64]) -> None:
        bad = self.rows["illegal"][asking] == stepping.BAD_POLICY_ACTION
        if bad.any():
            k = int(np.argmax(bad))
            i = int(asking[k])
            action = int(replies[k])
            name = self.policies[int(self.rows[i]["asked"])].name
            if not 0 <= action < self.num_actions:
                raise IllegalActionError(f"policy {name!r} gave action {action}: actions are 0 to {self.num_actions - 1}")
            raise IllegalActionError(f"policy {name!r}: {refusal(self.pack, self._tables[0], self.states[i], action)}")

    def _step_rows(self, indices: NDArray[np.int64], actions: NDArray[np.int64], phase: int) -> tuple[int, int]:
        """`stepping.step_rows` at some tables."""
        outputs = (self.observations, self.masks, self.rewards, self.ended, self.acting)
        ends = (self.payoffs, self.scores, self.winners, self.forfeits)
        counts = self._calls.split(stepping.step_rows, len(indices), (*self._fixed, *outputs, *ends, indices, actions, phase))
        if len(counts) == 1:
            return counts[0]  # type: ignore[no-any-return]
        return sum(waiting for waiting, _ in counts), sum(over for _, over in counts)

    def rollout(self, num_steps: int, bot: str, rng: np.random.Generator) -> Rollout:
        """Take `num_steps` steps with a rule bot in the learner's place; a word of the generator goes to each of its choices.

        What happened, ends of episodes too, is told in the rollout alone; the tables then stand as `observations` and `masks` say.

        Raises:
            ValueError: A number below 1, no rule bot, or an opponent that is none: they alone are compiled.
            RuntimeError: Under DISABLED, where an episode's end waits for a reset; else as `step`.
        """
        if operator.index(num_steps) < 1:
            raise ValueError(f"num_steps={num_steps} must be 1 or more")
        check_choice("bot", bot, list(BOTS))
        for policy in self.policies:
            if policy.code < 0:
                raise ValueError(f"rollout plays rule bots alone ({', '.join(BOTS)}), {policy.name!r} is an opponent: call step")
        self._check_ready()
        if self._refuses_finished:
            raise RuntimeError("a rollout goes on after an episode's end, which autoreset DISABLED does not: call step and reset")
        n = self.num_tables
        out = new_rollout(num_steps, n, self.num_features, self.num_actions, self.num_players)
        out.observations[0], out.seats[0] = self.observations, self.acting
        self._write_masks(out.action_masks[0])
        words = rng.bit_generator.random_raw((num_steps, n))
        self._new_outputs()
        self.num_ended = 0
        self._interrupted = True
        ends = np.empty_like(self.scores), np.empty_like(self.winners), np.empty_like(self.forfeits)
        told = (out.observations, out.action_masks, out.seats, out.actions, out.rewards, out.terminated, out.payoffs, *ends)
        stuck = self._calls.split(rollout_rows, n, (*self._fixed, *told, self._all, words, list(BOTS).index(bot)))
        if any(stuck):
            self._check_stuck(self._all)
        self._interrupted = False
        self.observations[:], self.masks[:], self.acting[:] = out.observations[-1], out.action_masks[-1], out.seats[-1]
        self.rewards[:], self.ended[:] = 0.0, False
        return out

    def last(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Under SAME_STEP, the last views of the episodes that ended in the last step: whose they are, shape (tables,), 0 where
        none ended, and the observations in the order of the tables, shape (num_ended, features)."""
        observations = np.empty((self.num_ended, self.num_features), np.uint8)
        self._calls(stepping.expand_last, self.ended, self._last_bits, observations)
        return np.where(self.ended, self.rows["acted"] if self.learner < 0 else self.learner, 0).astype(np.int64), observations

    def worst_payoff(self) -> float:
        """What the learner is paid for an illegal action that forfeits the episode."""
        return float(stepping.worst_payoff(self._tables[0], int(self._options[0]["win_reward"])))

    def observe(self, i: int, seat: int) -> NDArray[np.uint8]:
        """The view of a seat that is not to act at table i, shape (features,), uint8; no action is legal in it."""
        out = np.empty((1, self.num_features), np.uint8)
        stepping.observe_idle(self._tables, self.states, i, seat, self._views, self._bits, out)
        return out.reshape(self.num_features)

    def pay_points(self, points: NDArray[np.int64]) -> list[float]:
        """What each seat is paid, by the reward scheme `score`, for points won; shape (seats,)."""
        return [float(score_payoff(self._tables[0], points, seat)) for seat in range(self.num_players)]

    def end_info(self, i: int) -> dict[str, Any]:
        """What is told of the episode that ended at a table in the last step."""
        return {
            "payoffs": self.payoffs[i],
            "scores": self.scores[i],
            "winner": int(self.winners[i]),
            "illegal_action": bool(self.forfeits[i]),
        }
