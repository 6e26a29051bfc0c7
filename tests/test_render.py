"""Pictures of a table: what is shown and what is hidden, where it lies, and that it needs no display."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from goboom_env import PRESETS, Game, GoBoomEnv, GoBoomVectorEnv, sample_legal
from goboom_env.cards import PACK_62, normal_card
from goboom_env.render.layout import HEIGHT, WIDTH, Box, lay_out
from goboom_env.render.scene import Scene, SeatScene, by_suit, make_scene
from goboom_env.render.text import GLYPHS, card_text, shows_glyphs, table_text

ROOT = Path(__file__).parent.parent
SEATS = range(2, 15)


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def scene_of(sizes: list[int], seen: bool = True) -> Scene:
    """A table whose seats hold so many cards, with a card of each in the trick."""
    cards = itertools.cycle(PACK_62.types)
    seats = tuple(
        SeatScene("bot", tuple(next(cards) for _ in range(size)) if seen else None, size, 5, None, next(cards), False) for size in sizes
    )
    return Scene("stakes", False, 1, 9, "7D", None, 1, seats, 0, 0, 1, None, False, "seat 1 plays 7D")


# Text


@pytest.mark.parametrize(("encoding", "glyphs"), [("utf-8", True), ("ascii", False), ("cp1252", False), ("latin-1", False)])
def test_suits_are_glyphs_where_the_encoding_has_them(encoding: str, glyphs: bool) -> None:
    assert shows_glyphs(stream(encoding)) is glyphs


def test_a_stream_without_an_encoding_gets_letters() -> None:
    assert not shows_glyphs(object()) and not shows_glyphs(io.StringIO())


@pytest.mark.parametrize("preset", ["stakes", "jokers"])
def test_cards_as_people_read_them_are_read_back(preset: str) -> None:
    for card in PRESETS[preset].pack_for(8 if preset == "stakes" else 4).types:
        assert normal_card(card_text(card)) == card
    assert [card_text(word, True) for word in ("TC", "11D", "JH", "2S", "JK", "DRAW", "PASS")] == [
        *("10\u2663", "11\u2666", "J\u2665", "2\u2660"),
        *("JK", "DRAW", "PASS"),
    ]


def test_a_hand_lies_by_suit_then_rank_with_jokers_last() -> None:
    assert by_suit(["2S", "JK", "AC", "TC", "9D", "JC"]) == ["TC", "JC", "AC", "9D", "2S", "JK"]


def test_text_of_a_trick_by_hand() -> None:
    game = Game.from_position("classic", [["5H", "9C"], ["KH", "6D"], ["2H", "TC"]], stock=["7S"], scores=[10, 0, 3])
    game.play("5H")
    game.play("KH")
    _, s = game.records
    scene = make_scene(game.rules, game.pack, 3, s, 2, names=["ann", "bob", "cy"], last="seat 1 plays KH")
    assert table_text(scene) == (
        "Go Boom classic, hand 1, stock 1, to match: 5H\n"
        "  seat 0 ann: 1 card  plays 5H  score 10\n"
        "  seat 1 bob: 1 card  plays KH*  score 0\n"
        "> seat 2 cy: 10C 2H  score 3  dealer\n"
        "  last: seat 1 plays KH\n"
    )
    game.play("2H")
    assert table_text(make_scene(game.rules, game.pack, 3, s, 0, reveal=True), glyphs=True).splitlines()[0].endswith("seat 1 leads")
    assert "seat 2: 10\u2663" in table_text(make_scene(game.rules, game.pack, 3, s, 0, reveal=True), glyphs=True)
    game.play("6D")
    # Seat 1 is out: the others keep 10 (TC) and 9 (9C), which the winner collects.
    lines = table_text(make_scene(game.rules, game.pack, 3, s, 0)).splitlines()
    assert lines[0] == "Go Boom classic, hand 1, stock 1, seat 1 goes out"
    assert lines[2] == "  seat 1: 0 cards  plays 6D*  score 19 (+19)"


def test_ansi_shows_own_cards_and_hides_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream("ascii"))
    env = GoBoomEnv(render_mode="ansi", opponents="greedy")
    _, info = env.reset(seed=0)
    text = env.render()
    assert isinstance(text, str) and text.isascii()
    lines = text.splitlines()
    assert lines[0].startswith("Go Boom classic, hand 1, stock")
    assert len(lines) == 5 and "cards" not in lines[1] and all("greedy: " in line and "card" in line for line in lines[2:])
    seat, action = info["seat"], int(info["action_mask"].argmax())
    env.step(action)
    assert env.render().splitlines()[-1] == f"  last: seat {seat} plays {card_text(env._table.pack.types[action])}"


def test_reveal_shows_every_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream("ascii"))
    env = GoBoomEnv(render_mode="ansi", reveal=True)
    env.reset(seed=0)
    assert not any("cards" in line for line in env.render().splitlines()[1:])


def test_glyphs_in_ansi_on_a_terminal_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    env = GoBoomEnv(render_mode="ansi")
    env.reset(seed=0)
    monkeypatch.setattr(sys, "stdout", stream("utf-8"))
    assert any(glyph in env.render() for glyph in GLYPHS.values())


def test_human_prints_the_table_at_each_step_and_render_returns_none(capsys: pytest.CaptureFixture[str]) -> None:
    env = gym.make("GoBoom/Jokers-v0", render_mode="human")
    _, info = env.reset(seed=3)
    assert capsys.readouterr().out.count("Go Boom jokers") == 1
    env.step(int(info["action_mask"].argmax()))
    assert capsys.readouterr().out.count("Go Boom jokers") == 1
    assert env.render() is None and capsys.readouterr().out == ""
    envs = gym.make_vec("GoBoom/Jokers-v0", num_envs=3, render_mode="human")
    envs.reset(seed=3)
    assert capsys.readouterr().out.count("Go Boom jokers") == 3 and envs.render() is None


def test_a_forfeit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream("ascii"))
    env = GoBoomEnv(render_mode="ansi")
    _, info = env.reset(seed=0)
    wrong = int(info["action_mask"].argmin())
    env.step(wrong)
    assert f"forfeits the episode: {card_text(env._table.pack.types[wrong])} is not legal" in env.render()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_the_last_action_is_not_told_of_another_episode(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream("ascii"))
    envs = GoBoomVectorEnv(3, "mini", render_mode="ansi", autoreset_mode=mode)
    _, infos = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    over = np.zeros(3, bool)
    assert not any("last:" in text for text in envs.render())
    for _ in range(12):
        _, _, ended, _, infos = envs.step(sample_legal(infos["action_mask"], rng))
        texts = envs.render()
        if mode == "SameStep":
            assert ["last:" in text for text in texts] == (~ended).tolist()
        elif mode == "NextStep":
            assert ["last:" in text for text in texts] == (~over).tolist()  # a table that was over began anew
            over = ended
        elif ended.any():
            _, infos = envs.reset(options={"reset_mask": ended})
            assert ["last:" in text for text in envs.render()] == (~ended).tolist()


# Where everything lies


def boxes_of(layout: Any) -> list[Box]:
    """Every box in which something is drawn that no other may touch: cards, plays with their captions, and lines of text."""
    cards = [box for hand in layout.cards for box in hand]
    table = [Box(box.x, box.y, box.w, box.h + 18) for box in (*layout.plays, layout.stock, layout.pile)]
    return [*cards, *table, *layout.labels, layout.header, layout.footer]


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("size", [1, 7, 13, 20, 40])
def test_nothing_overlaps_and_all_is_inside(seats: int, size: int) -> None:
    layout = lay_out((size,) * seats)
    boxes = boxes_of(layout)
    assert len(boxes) == seats * (size + 2) + 4
    picture = Box(0, 0, WIDTH, HEIGHT)
    assert all(picture.holds(box) and box.w > 0 and box.h > 0 for box in boxes)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    for panel, label, hand in zip(layout.seats, layout.labels, layout.cards, strict=True):
        assert panel.holds(label) and len(hand) == size and all(panel.holds(box) for box in hand)
    assert all(layout.table.holds(box) for box in (*layout.plays, layout.stock, layout.pile))
    smallest = min(box.w for hand in layout.cards for box in hand)
    assert smallest >= (26 if size <= 20 else 16)  # pixels: rank and suit can still be read


def test_uneven_hands_and_hands_of_the_whole_pack_fit() -> None:
    for sizes in ([0, 104], [97, 7], [1, 2, 3, 40, 40, 9, 20, 31], [64] + [2] * 13):
        boxes = boxes_of(lay_out(tuple(sizes)))
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_boxes_overlap_where_they_share_a_pixel() -> None:
    assert Box(0, 0, 10, 10).overlaps(Box(9, 9, 5, 5)) and not Box(0, 0, 10, 10).overlaps(Box(10, 0, 5, 5))
    assert Box(0, 0, 10, 10).holds(Box(0, 0, 10, 10)) and not Box(0, 0, 10, 10).holds(Box(1, 0, 10, 10))


# Pixels


@pytest.fixture
def table_image() -> Any:
    pytest.importorskip("PIL")
    from goboom_env.render.image import table_image as draw

    return draw


@pytest.mark.parametrize("seats", [2, 4, 8, 12, 14])
def test_every_card_is_drawn_where_the_layout_says(seats: int, table_image: Any) -> None:
    scene = scene_of([20] * seats)
    picture = table_image(scene)
    assert picture.shape == (HEIGHT, WIDTH, 3) and picture.dtype == np.uint8
    for hand in lay_out((20,) * seats).cards:
        for box in hand:
            face = picture[box.y + 3 : box.y + box.h - 3, box.x + 3 : box.x + box.w - 3]  # without round corners
            paper = (face > 240).all(axis=2).mean()
            red = ((face[..., 0] > 180) & (face[..., 1] < 90)).any()
            black = (face < 60).all(axis=2).any()
            assert 0.3 < paper < 0.95 and red != black  # rank and suit on paper, in one colour


def test_a_card_changes_its_own_box_and_nothing_else(table_image: Any) -> None:
    scene = scene_of([7, 7, 7, 7])
    hand = scene.seats[2].cards
    assert hand is not None
    other = replace(scene.seats[2], cards=(*hand[:3], "13H", *hand[4:]))
    changed = (table_image(scene) != table_image(replace(scene, seats=(*scene.seats[:2], other, *scene.seats[3:])))).any(axis=2)
    box = lay_out((7,) * 4).cards[2][3]
    assert changed[box.y : box.y + box.h, box.x : box.x + box.w].any()
    changed[box.y : box.y + box.h, box.x : box.x + box.w] = False
    assert not changed.any()


def test_all_types_of_card_look_different(table_image: Any) -> None:
    from goboom_env.render.image import _face

    types = (*PACK_62.types, "JK")
    for width, height in ((92, 128), (26, 36), (17, 23)):
        assert len({_face(card, width, height).tobytes() for card in types}) == len(types)


def test_hidden_cards_do_not_change_the_picture(table_image: Any) -> None:
    env = GoBoomEnv(num_players=4, render_mode="rgb_array", opponents="greedy")
    env.reset(seed=5)
    before = env.render()
    state = env._table.states[0]
    state["hand"][1], state["hand"][2] = state["hand"][2].copy(), state["hand"][1].copy()
    state["deck"][int(state["stock_at"]) : int(state["stock_end"])] = state["deck"][int(state["stock_at"]) : int(state["stock_end"])][::-1]
    assert (env.render() == before).all()
    env._renderer._reveal = True  # type: ignore[union-attr]
    assert (env.render() != before).any()


@pytest.mark.parametrize("preset", PRESETS)
def test_pictures_of_whole_episodes_of_every_preset(preset: str, table_image: Any) -> None:
    rules = PRESETS[preset]
    env = GoBoomEnv(preset, rules.max_players, render_mode="rgb_array", reveal=True, opponents="random")
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    ended, frames = False, 0
    while not ended:
        frame = env.render()
        assert frame.shape == (HEIGHT, WIDTH, 3) and frame.dtype == np.uint8 and len(np.unique(frame)) > 50
        _, _, ended, _, info = env.step(int(sample_legal(info["action_mask"], rng)))
        frames += 1
    assert env.render().shape == (HEIGHT, WIDTH, 3) and frames > 0


def test_vector_env_gives_a_tuple_of_arrays_each_its_own(table_image: Any) -> None:
    envs = gym.make_vec("GoBoom/Classic-v0", num_envs=3, render_mode="rgb_array")
    envs.reset(seed=1)
    frames = envs.render()
    assert isinstance(frames, tuple) and len(frames) == 3 and len({frame.tobytes() for frame in frames}) == 3
    single = gym.make("GoBoom/Classic-v0", render_mode="rgb_array")
    single.reset(seed=2)
    assert (single.render() == frames[1]).all()
    frames[0][:] = 0
    assert (envs.render()[0] != 0).any()


def test_no_display_and_no_pillow_are_needed_where_they_should_not_be() -> None:
    script = """
import sys
sys.modules["PIL"] = None
from importlib.machinery import ModuleSpec
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "PIL" else find(name, *rest)
from goboom_env import GoBoomEnv
env = GoBoomEnv(render_mode="ansi")
env.reset(seed=0)
assert "seat 0" in env.render()
try:
    GoBoomEnv(render_mode="rgb_array")
except TypeError as error:
    print(error)
"""
    environment = {"PATH": "", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert result.stdout == 'render_mode="rgb_array" needs Pillow: pip install pillow\n', result.stderr


def test_render_modes_are_listed() -> None:
    for cls in (GoBoomEnv, GoBoomVectorEnv):
        assert cls.metadata["render_modes"] == ["ansi", "rgb_array", "human"] and cls.metadata["render_fps"] > 0


def test_render_without_a_mode_warns() -> None:
    env = GoBoomEnv()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="ansi, rgb_array, human"):
        assert env.render() is None


@pytest.mark.slow
def test_example_records_videos_of_one_table_and_of_four(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    command = [sys.executable, str(ROOT / "examples" / "record_video.py"), "--folder", str(tmp_path / "videos")]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    files = [Path(line) for line in result.stdout.splitlines()]
    assert [file.parent.name for file in files] == ["four", "one"]
    for file in files:
        assert file.stat().st_size > 10_000 and file.read_bytes()[4:8] == b"ftyp"  # an MP4 file
