from __future__ import annotations

import numpy as np
import pytest

from promptreg.verdict.statistics.anchored import contrast, sign_flip_p


def test_contrast_by_hand():
    points = np.array([0.0, 0.0, 1.0, 3.0, 5.0])
    distances = np.abs(points[:, None] - points[None])
    # A = {0, 0}, B = {1, 3}, target = {5}
    assert contrast(distances, 4) == pytest.approx(5 - 2)


def test_all_positive_is_significant_and_all_zero_is_not():
    assert sign_flip_p([1.0] * 12, seed=0) <= 0.005
    assert sign_flip_p([0.0] * 12, seed=0) == 1.0
    assert sign_flip_p([-1.0] * 12, seed=0) == 1.0
    assert sign_flip_p([1.0, -1.0, 2.0], seed=4) == sign_flip_p([1.0, -1.0, 2.0], seed=4)


def test_a_block_state_does_not_raise_false_alarms():
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        contrasts = []
        for _ in range(12):
            points = rng.normal(size=(15, 4))
            for block in (slice(0, 5), slice(5, 10), slice(10, 15)):
                points[block] += rng.normal(size=4)
            distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
            contrasts.append(contrast(distances, 10))
        rejected += sign_flip_p(contrasts, seed) <= 0.05
    assert rejected <= 23
