"""`sample_legal` against the definition of an equal chance."""

from __future__ import annotations

import numpy as np
import pytest

from goboom_env.sampling import sample_legal


@pytest.mark.parametrize("width", [1, 3, 8, 10, 54, 55, 64, 67])
@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_only_legal_actions_are_drawn(width: int, count: int) -> None:
    rng = np.random.default_rng(width * 100 + count)
    masks = (rng.random((count, width)) < 0.3).astype(np.int8)
    masks[np.arange(count), rng.integers(width, size=count)] = 1
    seen = np.zeros((count, width), bool)
    for _ in range(60):
        actions = sample_legal(masks, rng)
        assert actions.shape == (count,)
        assert (masks[np.arange(count), actions] == 1).all()
        seen[np.arange(count), actions] = True
    assert (sample_legal(masks.astype(bool), rng) >= 0).all()
    if width <= 8:
        assert (seen == masks.astype(bool)).all()


def test_each_legal_action_is_drawn_equally_often() -> None:
    mask = np.zeros(54, np.int8)
    legal = [0, 7, 8, 31, 52, 53]
    mask[legal] = 1
    counts = np.bincount(sample_legal(np.tile(mask, (60_000, 1)), np.random.default_rng(0)), minlength=54)
    assert counts[mask == 0].sum() == 0
    # 10,000 each; chi-square with 5 degrees of freedom is below 20.5 with probability 0.999.
    assert ((counts[legal] - 10_000) ** 2 / 10_000).sum() < 20.5


def test_one_mask_gives_an_int_and_the_seed_decides() -> None:
    mask = np.ones(20, np.int8)
    draws = [[sample_legal(mask, rng) for _ in range(10)] for rng in (np.random.default_rng(4), np.random.default_rng(4))]
    assert draws[0] == draws[1] and type(draws[0][0]) is int and len(set(draws[0])) > 3


@pytest.mark.parametrize(
    ("mask", "message"), [(np.zeros((2, 9), np.int8), "mask 0 has no"), (np.ones(3), "float64"), (np.ones((1, 2, 3), np.int8), "shape")]
)
def test_bad_masks_are_refused(mask: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_legal(mask, np.random.default_rng(0))
