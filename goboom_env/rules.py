"""One frozen `Rules` value for each written version of Go Boom, and for house rules made from them.

Sources, as the comments name them: S1 Spanish and S2 Czech (one text), S3 Afrikaans ("Jokers Go Boom"), S4 English,
S5 Russian. `docs/rules.md` states each rule in prose.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from goboom_env.cards import PACK_52, PACK_54, PACK_62, PACK_104, Pack

MAX_PLAYERS = 14

CHOICES: Mapping[str, tuple[str | None, ...]] = MappingProxyType(
    {
        "family": ("trick", "pile"),
        "match": ("lead", "last"),
        "trick_winner": ("suit", "any"),
        "draw": ("until", "one", "one_may_play"),
        "renege": ("none", "draw", "pass"),
        "aces": ("plain", "wild", "boom"),
        "after_boom": ("under", "any"),
        "blocked": (None, "own", "difference", "void"),
        "scoring": ("collect", "penalty", "settle"),
        "match_end": ("target", "round", "hand"),
        "next_lead": ("left", "last_trick"),
    }
)
"""Allowed values of every field of `Rules` that is one of a few words."""

_TRICK_ONLY = ("match", "trick_winner", "renege", "finish_trick", "next_lead")
_PILE_ONLY = ("aces", "ace_must_match", "after_boom", "boom_on_last", "reshuffle", "blocked")


def nearest(word: object, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"` for the known word closest to a wrong one, else the list of all."""
    words = sorted(known)
    return near_miss(word, words) or f"; known: {', '.join(words)}"


def near_miss(word: object, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"`, or nothing where no known word is close."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


@dataclass(frozen=True)
class Rules:
    """A rule set. Defaults are those of `classic` (S1, S2).

    Attributes:
        family: `trick`: each seat in turn follows the card led, the trick's winner leads next. `pile`: each seat
            matches the top of one discard pile.
        min_players, max_players: Player counts that the source allows, within 2 to 14.
        packs: `(n, pack)` pairs with rising n: the pack in use from n players on.
        hand_size: Cards dealt to each seat.
        match: Trick family. `lead`: the card LED must be matched by suit or rank. `last`: the card played just before.
        trick_winner: Trick family. `suit`: the highest card of the suit led. `any`: the highest rank of any suit.
            Of equal cards the first played wins.
        draw: What a seat that cannot match does. `until`: draws until it can, then must play that card. `one`: draws one
            card and the turn is over. `one_may_play`: draws one card and may play that card.
        draw_limit: With `until`, the most cards drawn in one turn; 0 for no limit.
        renege: Trick family. `draw`: a follower may draw, a card at a time, although it could play. `pass`: a follower may
            sit the trick out although it could play.
        finish_trick: Trick family. When a hand is empty the others still play to that trick; all who go out score 0 and
            the first to go out is the winner.
        aces: Pile family. `wild`: an ace may be played on anything. `boom`: so, and each other seat draws a card. An ace
            keeps its suit and rank in either case. `boom` needs a pack without jokers.
        ace_must_match: Pile family. A wild or boom ace must match by suit or rank after all.
        after_boom: Pile family. What the next seat must match: the card `under` the joker, or `any`thing. A booming ace is
            itself the card to match under `under`.
        boom_on_last: Pile family. A boom card played as the last of a hand makes the others draw before scoring.
        reshuffle: Pile family. When a draw, or a boom about to be played, needs more cards than the stock holds, all of the
            pile but the card to match is shuffled and put under the stock.
        turn_limit: With `reshuffle`, the number of actions after which a hand counts as blocked.
        blocked: Pile family. Scoring of a hand in which nobody can go on. `own`: each seat its own cards. `difference`: the
            unique lowest hand gets the difference to each other hand, nobody anything when the lowest is tied. `void`: no
            scores. None: `own` under `penalty` scoring, else `difference`.
        ace_points, court_points, joker_points: Card points; other ranks count their face value.
        scoring: `collect`: the winner scores all points left in the others' hands. `penalty`: each seat scores the points
            in its own hand, and the lowest score is the best. `settle`: the winner scores all, each other seat minus its own.
        match_end: A match ends when a score reaches `target`, after a `round` (as many hands as players), or after each
            `hand`.
        target: The score that ends a match with `match_end="target"`.
        next_lead: Trick family. Who leads the next hand: the seat `left` of the dealer or the winner of the `last_trick`.
            The deal passes to the left in every version.
    """

    family: Literal["trick", "pile"] = "trick"
    min_players: int = 2
    max_players: int = 12
    packs: tuple[tuple[int, Pack], ...] = ((2, PACK_52), (7, PACK_104))
    hand_size: int = 7
    match: Literal["lead", "last"] = "lead"
    trick_winner: Literal["suit", "any"] = "suit"
    draw: Literal["until", "one", "one_may_play"] = "until"
    draw_limit: int = 0
    renege: Literal["none", "draw", "pass"] = "none"
    finish_trick: bool = False
    aces: Literal["plain", "wild", "boom"] = "plain"
    ace_must_match: bool = False
    after_boom: Literal["under", "any"] = "under"
    boom_on_last: bool = True
    reshuffle: bool = False
    turn_limit: int = 1000
    blocked: Literal["own", "difference", "void"] | None = None
    ace_points: int = 1
    court_points: int = 10
    joker_points: int = 20
    scoring: Literal["collect", "penalty", "settle"] = "collect"
    match_end: Literal["target", "round", "hand"] = "target"
    target: int = 200
    next_lead: Literal["left", "last_trick"] = "left"

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, default = getattr(self, field.name), field.default
            if field.name in CHOICES:
                if value not in CHOICES[field.name]:
                    known = [str(word) for word in CHOICES[field.name]]
                    raise ValueError(f"{field.name}={value!r} is not one of {', '.join(known)}{near_miss(value, known)}")
            elif isinstance(default, bool):
                if not isinstance(value, bool):
                    raise ValueError(f"{field.name}={value!r} must be True or False")
            elif isinstance(default, int) and (not isinstance(value, int) or isinstance(value, bool)):
                raise ValueError(f"{field.name}={value!r} must be a whole number")
        self._check_packs()
        self._check_numbers()
        self._check_family()

    def _check_packs(self) -> None:
        try:
            packs = tuple((start, pack) for start, pack in self.packs)
        except TypeError:
            packs = ()
        if not packs or not all(type(start) is int and isinstance(pack, Pack) for start, pack in packs):
            raise ValueError(
                f"packs={self.packs!r} must be (n, Pack) pairs: the pack in use from n players on, as in ((2, PACK_52), (7, PACK_104))"
            )
        object.__setattr__(self, "packs", packs)

    def _check_numbers(self) -> None:
        if not 2 <= self.min_players <= self.max_players <= MAX_PLAYERS:
            raise ValueError(
                f"min_players={self.min_players} and max_players={self.max_players} must be in order and within 2 to {MAX_PLAYERS}"
            )
        lows = {"hand_size": 1, "draw_limit": 0, "turn_limit": 1, "ace_points": 0, "court_points": 0, "joker_points": 0}
        for name, low in lows.items():
            high = 30_000 if name == "turn_limit" else 100
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}={getattr(self, name)} must be within {low} to {high}")
        if not 1 <= self.target <= 100_000:
            raise ValueError(f"target={self.target} must be within 1 to 100000")
        starts = [start for start, _ in self.packs]
        if starts != sorted(set(starts)) or starts[0] > self.min_players:
            raise ValueError(
                f"packs start at {starts} players: write (n, Pack) pairs with rising n, "
                f"the first at or below min_players={self.min_players}"
            )
        if self.turn_limit != 1000 and not self.reshuffle:
            raise ValueError(f"turn_limit={self.turn_limit} needs reshuffle=True")
        if self.draw_limit and self.draw != "until":
            raise ValueError(f'draw_limit={self.draw_limit} needs draw="until", got draw={self.draw!r}')

    def _check_family(self) -> None:
        foreign = _PILE_ONLY if self.family == "trick" else _TRICK_ONLY
        for field in dataclasses.fields(self):
            if field.name in foreign and getattr(self, field.name) != field.default:
                raise ValueError(f"{field.name}={getattr(self, field.name)!r} has no meaning in the {self.family} family; leave it out")
        jokers = max(pack.jokers for _, pack in self.packs)
        if jokers and self.family == "trick":
            raise ValueError(f'a pack with {jokers} jokers needs family="pile"')
        if jokers and self.aces == "boom":
            raise ValueError(f'aces="boom" needs a pack without jokers, got one with {jokers}')
        if self.ace_must_match and self.aces == "plain":
            raise ValueError('ace_must_match needs aces="boom" or aces="wild"')

    def pack_for(self, num_players: int) -> Pack:
        """The pack in use at a table of that many players.

        Raises:
            ValueError: The rules do not allow that many players, or their pack has too few cards for them.
        """
        if isinstance(num_players, bool) or not isinstance(num_players, int):
            raise ValueError(f"num_players={num_players!r} must be a whole number")
        if not self.min_players <= num_players <= self.max_players:
            raise ValueError(
                f"num_players={num_players} is not possible: these rules are for {self.min_players} to {self.max_players} players"
            )
        pack = [pack for start, pack in self.packs if start <= num_players][-1]
        needed = self.hand_size * num_players + (self.family == "pile")
        if needed > pack.size:
            turned = " and one card turned up" if self.family == "pile" else ""
            raise ValueError(
                f"{num_players} hands of {self.hand_size}{turned} need {needed} cards and the pack has {pack.size}: "
                "choose fewer players, smaller hands or a larger pack"
            )
        return pack

    @property
    def player_counts(self) -> range:
        """Player counts that the rules allow (a pack may still be too small for one with a house rule's hand size)."""
        return range(self.min_players, self.max_players + 1)

    @property
    def default_players(self) -> int:
        """Seats where none are asked for: 4, or the nearest number that the rules allow."""
        return min(max(4, self.min_players), self.max_players)

    def to_dict(self) -> dict[str, Any]:
        """Every field as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rules:
        """Rules from `to_dict`'s values; fields left out keep their defaults; `ValueError` for an unknown key or bad value."""
        if not isinstance(values, Mapping):
            raise ValueError(f"rules are a name or a mapping of fields, got {values!r}")
        known = {field.name for field in dataclasses.fields(cls)}
        for key in values:
            if key not in known:
                raise ValueError(f"rules have no field {key!r}{nearest(key, known)}")
        fields = dict(values)
        if "packs" in fields:
            try:
                fields["packs"] = tuple(
                    (start, pack if isinstance(pack, Pack) else Pack(tuple(pack["cards"]), pack["copies"], pack["jokers"]))
                    for start, pack in fields["packs"]
                )
            except (TypeError, KeyError, ValueError) as error:
                raise ValueError(f"packs must be a list of [players, {{cards, copies, jokers}}]: {error}") from error
        return cls(**fields)


_PENALTY_100: dict[str, Any] = {"scoring": "penalty", "target": 100}
_JOKERS = Rules(  # S3
    family="pile",
    min_players=3,
    max_players=4,
    packs=((2, PACK_54),),
    draw="one",
    ace_points=15,
    scoring="penalty",
    match_end="round",
)
_STAKES = Rules(  # S5
    max_players=14,
    packs=((2, PACK_52), (7, PACK_62), (9, PACK_104)),
    scoring="settle",
    match_end="hand",
)

PRESETS: Mapping[str, Rules] = MappingProxyType(
    {
        "classic": Rules(),
        "classic-reverse": Rules(**_PENALTY_100),
        "jokers": _JOKERS,
        "jokers-aces": dataclasses.replace(_JOKERS, packs=((2, PACK_52),), aces="boom"),
        "hundred": Rules(max_players=7, packs=((2, PACK_52),), next_lead="last_trick", **_PENALTY_100),
        "stakes": _STAKES,
        "stakes-200": dataclasses.replace(_STAKES, scoring="collect", match_end="target"),
        "stakes-minus": dataclasses.replace(_STAKES, match_end="target", **_PENALTY_100),
        "dig": Rules(match="last", trick_winner="any"),
        "rockaway": Rules(
            family="pile", max_players=14, packs=((2, PACK_104),), aces="wild", ace_points=15, match_end="round", scoring="penalty"
        ),
        "mini": Rules(max_players=2, packs=((2, Pack.of("234A", "CD")),), hand_size=2, scoring="settle", match_end="hand"),
    }
)
"""The written versions, two variants (`dig`, `rockaway`) and a game small enough to solve (`mini`), by name."""


def get_rules(rules: str | Rules) -> Rules:
    """A preset by name, or the given `Rules`; `ValueError` names the nearest preset."""
    if isinstance(rules, Rules):
        return rules
    if not isinstance(rules, str) or rules not in PRESETS:
        raise ValueError(f"there is no preset {rules!r}{nearest(rules, PRESETS)}")
    return PRESETS[rules]


def rules_name(rules: Rules) -> str | None:
    """Name of the preset that equals these rules, None for a house rule."""
    return next((name for name, preset in PRESETS.items() if preset == rules), None)
