"""How a hand ended."""

from __future__ import annotations

from goboom_env.terminal.session import Session


def result_text(session: Session) -> str:
    """Who went out."""
    game = session.game
    if game.winner is None:
        return "Nobody can go on: the hand is blocked."
    return "You go out and win the hand!" if game.winner == session.you else f"Seat {game.winner} ({session.names[game.winner]}) goes out."


def result_lines(session: Session) -> list[str]:
    """Points left, what the hand changed and the scores, and who won a match that is over."""
    game = session.game
    lines = [f"  {'seat':<24}{'left':>5}{'hand':>7}{'score':>7}"]
    for seat, (left, delta, score) in enumerate(zip(game.left or [], game.delta or [], game.scores, strict=True)):
        name = "you" if seat == session.you else f"seat {seat} {session.names[seat]}"
        lines.append(f"  {name[:23]:<24}{left:>5}{delta:>+7}{score:>7}")
    if game.match_over and game.rules.match_end != "hand":
        winners = ["you" if seat == session.you else f"seat {seat}" for seat in game.match_winners]
        lines.append(f"The match is over. Best score: {', '.join(winners)}.")
    return lines
