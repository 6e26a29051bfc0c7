"""The rules of a table in a few lines, from the fields of its `Rules`."""

from __future__ import annotations

from goboom_env.rules import Rules, rules_name


def rules_summary(rules: Rules, num_players: int) -> list[str]:
    """Sentences on how the game is played, for a person at the table."""
    pack = rules.pack_for(num_players)
    lines = [
        f"{rules_name(rules) or 'House rules'}: {num_players} seats, {rules.hand_size} cards each from a pack of {pack.size}. "
        "Get rid of all your cards first."
    ]
    lines += _trick(rules) if rules.family == "trick" else _pile(rules, pack.jokers)
    lines.append(_draw(rules))
    if rules.family == "trick":
        lines.append("A seat that cannot play when the stock is empty sits the trick out.")
    lines += [_points(rules, pack.jokers), _scoring(rules), _end(rules)]
    return lines


def _trick(rules: Rules) -> list[str]:
    to = "the card led" if rules.match == "lead" else "the card played just before"
    best = "the suit led" if rules.trick_winner == "suit" else "any suit"
    lines = [
        f"The leader plays any card; each other seat in turn plays one of the same suit or rank as {to}.",
        f"The highest card of {best} wins the trick, and its player leads the next. Aces are high.",
    ]
    if rules.renege == "draw":
        lines.append("A follower may draw although it could play.")
    if rules.renege == "pass":
        lines.append("A follower may sit a trick out although it could play.")
    return lines


def _pile(rules: Rules, jokers: int) -> list[str]:
    lines = ["Play a card of the same suit or rank as the top of the pile."]
    if jokers:
        after = "the card under it" if rules.after_boom == "under" else "nothing: any card may follow"
        lines.append(f"A joker may be played on anything. Boom: every other seat draws a card. The next seat matches {after}.")
    if rules.aces != "plain":
        on = "must match like other cards" if rules.ace_must_match else "may be played on anything"
        lines.append(f"An ace {on}." + (" Boom: every other seat draws a card." if rules.aces == "boom" else ""))
    return lines


def _draw(rules: Rules) -> str:
    if rules.draw == "one":
        return "A seat that cannot play draws one card, and its turn is over."
    if rules.draw == "one_may_play":
        return "A seat that cannot play draws one card and may play it."
    limit = f", {rules.draw_limit} at most" if rules.draw_limit else ""
    return f"A seat that cannot play draws until it can{limit}, and plays that card."


def _points(rules: Rules, jokers: int) -> str:
    joker = f", jokers {rules.joker_points}" if jokers else ""
    return f"Points of cards left: aces {rules.ace_points}, K Q J {rules.court_points}{joker}, others what they show."


def _scoring(rules: Rules) -> str:
    return {
        "collect": "Who goes out scores the points in all other hands.",
        "penalty": "Each seat scores the points in its own hand; the lowest score is the best.",
        "settle": "Each seat pays the points in its hand to the one who goes out.",
    }[rules.scoring]


def _end(rules: Rules) -> str:
    if rules.match_end == "target":
        best = "lowest" if rules.scoring == "penalty" else "highest"
        return f"A match ends when a score reaches {rules.target}; the {best} wins."
    return "A match is a hand a player." if rules.match_end == "round" else "Each hand is a match."
