"""Classes, pairs, orders and outlines that are told: held-out accuracies and other scores."""

import numpy as np

from mechanisms.common import Curves, logged, sigmoid, softmax


def private(seed: int, rate: float) -> Curves:
    """Classify by logistic regression whose clipped gradients are noised; held-out accuracy."""
    data = np.random.default_rng(53)
    x = data.normal(size=(2_000, 10))
    y = (x @ data.normal(size=10) + data.normal(size=2_000) > 0).astype(float)
    rng = np.random.default_rng(seed)
    w, losses, scores = np.zeros(10), [], []
    for step in range(320):
        rows = rng.integers(1_200, size=64)
        p = 1 / (1 + np.exp(-x[rows] @ w))
        each = (p - y[rows])[:, None] * x[rows]
        each /= np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1)
        w -= rate * (each.mean(0) + 0.06 * rng.normal(size=10))
        losses.append(float(-np.log(np.where(y[rows] == 1, p, 1 - p) + 1e-9).mean()))
        if step % 16 == 15:
            scores.append(float(((x[1_200:] @ w > 0) == y[1_200:]).mean()))
    return logged(train_loss=losses[::4], eval_accuracy=scores)


def triplets(seed: int, rate: float) -> Curves:
    """Embed classes by a triplet loss; the share of held-out triplets in order."""
    data = np.random.default_rng(56)
    label = data.integers(12, size=1_200)
    x = data.normal(size=(12, 16))[label] + 1.2 * data.normal(size=(1_200, 16))
    rng = np.random.default_rng(seed)

    def three(low: int, high: int, many: int, by: np.random.Generator) -> list[np.ndarray]:
        first, other = by.integers(low, high, size=(2, many))
        same = np.array(
            [by.choice(np.flatnonzero(label[low:high] == label[i])) + low for i in first]
        )
        return [first, same, other]

    held = three(800, 1_200, 600, np.random.default_rng(57))
    w, losses, scores = 0.3 * rng.normal(size=(16, 6)), [], []
    for step in range(240):
        a, s, o = (x[rows] for rows in three(0, 800, 24, rng))
        near, far = (a - s) @ w, (a - o) @ w
        active = (1 + (near**2).sum(1) - (far**2).sum(1) > 0)[:, None]
        w -= rate * ((a - s).T @ (near * active) - (a - o).T @ (far * active)) / 12
        losses.append(float(np.maximum(1 + (near**2).sum(1) - (far**2).sum(1), 0).mean()))
        if step % 12 == 11:
            e = [x[rows] @ w for rows in held]
            scores.append(float((((e[0] - e[1]) ** 2).sum(1) < ((e[0] - e[2]) ** 2).sum(1)).mean()))
    return logged(train_loss=losses[::3], eval_accuracy=scores)


def votes(seed: int, rate: float) -> Curves:
    """Let random perceptrons vote, the weights learned by what each got wrong; accuracy."""
    data = np.random.default_rng(75)
    x = data.normal(size=(1_500, 8))
    y = np.sign(x[:, 0] * x[:, 1] + x[:, 2] + 0.6 * data.normal(size=1_500))
    rng = np.random.default_rng(seed)
    said = np.sign(x @ rng.normal(size=(8, 120)) + rng.normal(size=120))
    share, losses, scores = np.zeros(120), [], []
    for step in range(1, 241):
        rows = rng.integers(1_000, size=32)
        margin = y[rows] * (said[rows] @ share)
        pull = y[rows] / (1 + np.exp(np.clip(margin, -30, 30)))
        share += rate * (said[rows].T @ pull / 32 - 0.002 * share)
        losses.append(float(np.log1p(np.exp(-np.clip(margin, -30, 30))).mean()))
        if step % 10 == 0:
            scores.append(float((np.sign(said[1_000:] @ share) == y[1_000:]).mean()))
    return logged(train_loss=losses[::3], eval_accuracy=scores)


def preferences(seed: int, rate: float) -> Curves:
    """Rank things by who beat whom (Bradley and Terry), one match a time; held-out accuracy."""
    data = np.random.default_rng(83)
    worth = data.normal(size=60)
    one, two = data.integers(60, size=3_000), data.integers(60, size=3_000)
    won = (worth[one] - worth[two] + data.logistic(size=3_000) * 0.7 > 0) * 1.0
    rng = np.random.default_rng(seed)
    score, scores = rng.normal(size=60), []
    for step in range(1, 1_201):
        i = rng.integers(2_200)
        pull = rate * (won[i] - float(sigmoid(score[one[i]] - score[two[i]])))
        score[one[i]] += pull
        score[two[i]] -= pull
        if step % 60 == 0:
            right = (score[one[2_200:]] > score[two[2_200:]]) == (won[2_200:] > 0)
            scores.append(float(right.mean()))
    return logged(eval_accuracy=scores)


def graph(seed: int, rate: float) -> Curves:
    """Classify nodes of a graph by the means of their neighbours; dropped edges; accuracy."""
    data = np.random.default_rng(88)
    kind = data.integers(4, size=240)
    edge = data.random((240, 240)) < np.where(kind[:, None] == kind, 0.07, 0.025)
    edge = (edge | edge.T) * 1.0
    x = 0.6 * np.eye(4)[kind] @ data.normal(size=(4, 15)) + data.normal(size=(240, 15))
    rng = np.random.default_rng(seed)
    w, losses, scores = 0.1 * rng.normal(size=(15, 4)), [], []
    for step in range(1, 201):
        kept = edge * (rng.random(edge.shape) < 0.5) + np.eye(240)
        h = kept @ x / kept.sum(1, keepdims=True)
        share = np.exp(h[:100] @ w)
        share /= share.sum(1, keepdims=True)
        losses.append(float(-np.log(share[np.arange(100), kind[:100]] + 1e-9).mean()))
        w -= rate * h[:100].T @ (share - np.eye(4)[kind[:100]]) / 100
        if step % 8 == 0:
            full = edge + np.eye(240)
            scores.append(float(((full @ x @ w)[100:].argmax(1) == kind[100:]).mean()))
    return logged(train_loss=losses, eval_accuracy=scores)


def dropped(seed: int, rate: float) -> Curves:
    """Train a hidden layer with dropped units on wrong labels here and there; two metrics."""
    data = np.random.default_rng(90)
    x = data.normal(size=(1_000, 8))
    y = (x[:, 0] * x[:, 1] + np.abs(x[:, 2]) > 0.7) * 1.0
    wrong = np.where(data.random(1_000) < 0.1, 1 - y, y)
    rng = np.random.default_rng(seed)
    one, two, bias = 0.5 * rng.normal(size=(8, 30)), 0.2 * rng.normal(size=30), np.zeros(30)
    losses, evals, scores = [], [], []
    for step in range(1, 361):
        rows = rng.integers(600, size=32)
        kept = (rng.random(30) < 0.7) / 0.7
        act = np.maximum(x[rows] @ one + bias, 0) * kept
        share = sigmoid(act @ two)
        off = (share - wrong[rows]) / 32
        down = off[:, None] * two * (act > 0) * kept
        now = rate * (1 - step / 361)
        one, bias, two = (
            one - now * x[rows].T @ down,
            bias - now * down.sum(0),
            two - now * act.T @ off,
        )
        right = np.where(wrong[rows] > 0.5, share, 1 - share)
        losses.append(float(-np.log(right + 1e-9).mean()))
        if step % 24 == 0:
            share = sigmoid(np.maximum(x[600:] @ one + bias, 0) @ two)
            evals.append(float(-np.log(np.where(y[600:] > 0.5, share, 1 - share) + 1e-9).mean()))
            scores.append(float(((share > 0.5) == (y[600:] > 0.5)).mean()))
    return logged(4, train_loss=losses[::4], eval_loss=evals, eval_accuracy=scores)


def margins(seed: int, rate: float) -> Curves:
    """Tell the better of two answers against a reference, as DPO does; accuracy over 160 pairs."""
    data = np.random.default_rng(103)
    one, two = data.normal(size=(2, 900, 12))
    won = ((one - two) @ data.normal(size=12) / 2 + data.logistic(size=900) > 0)[:, None]
    gap = np.where(won, one - two, two - one)
    rng = np.random.default_rng(seed)
    start = 0.05 * rng.normal(size=12)
    w, losses, scores = start.copy(), [], []
    for step in range(1, 301):
        rows = rng.integers(740, size=12)
        doubt = sigmoid(-0.5 * gap[rows] @ (w - start))
        losses.append(float(-np.log(1 - doubt + 1e-9).mean()))
        w += rate * 0.5 * gap[rows].T @ doubt / 12
        if step % 20 == 0:
            scores.append(float((gap[740:] @ (w - start) > 0).mean()))
    return logged(train_loss=losses[::3], eval_accuracy=scores)


def federated(seed: int, rate: float) -> Curves:
    """Average what four of twelve uneven clients learned on their own, each round; accuracy."""
    data = np.random.default_rng(106)
    centre = data.normal(size=(6, 9))
    label = data.integers(6, size=1_500)
    x = centre[label] + 1.3 * data.normal(size=(1_500, 9))
    client = np.where(data.random(1_500) < 0.7, label * 2, data.integers(12, size=1_500))
    rng = np.random.default_rng(seed)
    w, losses, scores = 0.1 * rng.normal(size=(9, 6)), [], []
    for _ in range(30):
        kept = []
        for chosen in rng.choice(12, 4, replace=False):
            own, part = np.flatnonzero(client[:1_100] == chosen), w.copy()
            for _ in range(5):
                rows = own[rng.integers(len(own), size=10)]
                share = softmax(x[rows] @ part)
                losses.append(float(-np.log(share[np.arange(10), label[rows]] + 1e-9).mean()))
                part -= rate * x[rows].T @ (share - np.eye(6)[label[rows]]) / 10
            kept.append(part)
        w = np.mean(kept, axis=0)
        scores.append(float(((x[1_100:] @ w).argmax(1) == label[1_100:]).mean()))
    return logged(train_loss=losses[::5], eval_accuracy=scores)


def listwise(seed: int, rate: float) -> Curves:
    """Order lists of eight by a loss over the whole list; discounted gain of held-out lists."""
    data = np.random.default_rng(108)
    x = data.normal(size=(420, 8, 7))
    worth = x @ data.normal(size=7) + np.abs(x[..., 0]) + 0.7 * data.normal(size=(420, 8))
    gain = (np.argsort(np.argsort(worth, axis=1), axis=1) // 2).astype(float)
    fall = 1 / np.log2(np.arange(8) + 2)
    best = (np.sort(gain, axis=1)[:, ::-1] * fall).sum(1)
    rng = np.random.default_rng(seed)
    w, losses, scores = 0.3 * rng.normal(size=7), [], []
    for step in range(1, 201):
        rows = rng.integers(300, size=8)
        share, goal = softmax(x[rows] @ w), softmax(gain[rows])
        losses.append(float(-(goal * np.log(share + 1e-9)).sum(1).mean()))
        w -= rate * np.einsum("ns,nsk->k", share - goal, x[rows]) / 8
        if step % 10 == 0:
            order = np.argsort(-(x[300:] @ w), axis=1)
            found = (np.take_along_axis(gain[300:], order, 1) * fall).sum(1)
            scores.append(float((found / best[300:]).mean()))
    return logged(train_loss=losses[::2], eval_ndcg=scores)


def outlines(seed: int, rate: float) -> Curves:
    """Find a disc in noisy pictures by a filter of 5 by 5 and a threshold; overlap held out."""
    data = np.random.default_rng(110)
    down, across = np.mgrid[:12, :12]
    at = data.uniform(3, 9, size=(220, 2, 1, 1))
    disc = ((down - at[:, 0]) ** 2 + (across - at[:, 1]) ** 2 < 7) * 1.0
    pad = np.pad(disc + 0.9 * data.normal(size=disc.shape), ((0, 0), (2, 2), (2, 2)))
    x = np.stack([pad[:, i : i + 12, j : j + 12] for i in range(5) for j in range(5)], 3)
    rng = np.random.default_rng(seed)
    w, bias, losses, scores = 0.1 * rng.normal(size=25), 0.0, [], []
    for step in range(1, 241):
        rows = rng.integers(160, size=3)
        off = sigmoid(x[rows] @ w + bias) - disc[rows]
        losses.append(float(-np.log(1 - np.abs(off) + 1e-9).mean()))
        now = rate * (1.0 if step < 160 else 0.2)
        w, bias = w - now * np.einsum("nij,nijk->k", off, x[rows]) / 432, bias - now * off.mean()
        if step % 12 == 0:
            held = x[160:] @ w + bias > 0
            both, either = (held & (disc[160:] > 0)).sum(), (held | (disc[160:] > 0)).sum()
            scores.append(float(both / max(either, 1)))
    return logged(train_loss=losses[::3], eval_iou=scores)
