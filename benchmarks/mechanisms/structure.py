"""What data are made of, without labels: clusters, codes, samplers, chains."""

import numpy as np

from mechanisms.common import Curves, logged, sigmoid
from runlens.history import FloatArray


def mixture(seed: int, rate: float) -> Curves:
    """Fit five Gaussians by stochastic EM; negative log-likelihood of held-out points."""
    data = np.random.default_rng(52)
    x = np.concatenate([data.normal(m, 0.5, 400) for m in (-4, -1.5, 0, 2, 3.5)])
    data.shuffle(x)
    rng = np.random.default_rng(seed)
    mean = rng.choice(x[:1_400], 5, replace=False)
    spread, share = np.ones(5), np.full(5, 0.2)
    losses, evals = [], []

    def each(points: FloatArray) -> FloatArray:
        off = (points[:, None] - mean) / spread
        return share * np.exp(-0.5 * off**2) / spread / 2.507 + 1e-12

    for step in range(1, 301):
        batch = rng.choice(x[:1_400], 40)
        part = each(batch)
        losses.append(float(-np.log(part.sum(1)).mean()))
        part /= part.sum(1, keepdims=True)
        now, weight = rate / (1 + step / 60), part.sum(0) + 1e-6
        new = (part * batch[:, None]).sum(0) / weight
        width = np.sqrt((part * (batch[:, None] - new) ** 2).sum(0) / weight + 0.02)
        mean = (1 - now) * mean + now * new
        spread = (1 - now) * spread + now * width
        share = (1 - now) * share + now * weight / weight.sum()
        if step % 20 == 0:
            evals.append(float(-np.log(each(x[1_400:]).sum(1)).mean()))
    return logged(train_loss=losses[::4], eval_loss=evals)


def clusters(seed: int, rate: float) -> Curves:
    """Move nine centres to the points next to them; the mean squared distance of held-out ones."""
    data = np.random.default_rng(54)
    x = data.normal(size=(9, 3))[data.integers(9, size=1_500)] * 2 + 0.5 * data.normal(
        size=(1_500, 3)
    )
    rng = np.random.default_rng(seed)
    centres = x[rng.choice(1_000, 9, replace=False)].copy()
    evals = []
    for step in range(400):
        for point in x[rng.integers(1_000, size=8)]:
            near = int(((centres - point) ** 2).sum(1).argmin())
            centres[near] += rate / (1 + step / 80) * (point - centres[near])
        if step % 40 == 39:
            evals.append(float(((x[1_000:, None] - centres) ** 2).sum(2).min(1).mean()))
    return logged(eval_loss=evals)


def dictionary(seed: int, rate: float) -> Curves:
    """Learn atoms that make up sparse signals, each coded by its two nearest atoms."""
    data = np.random.default_rng(72)
    atoms = data.normal(size=(10, 14))
    x = data.normal(size=(900, 2, 1)) * atoms[data.integers(10, size=(900, 2))]
    x = x.sum(1) + 0.2 * data.normal(size=(900, 14))
    rng = np.random.default_rng(seed)
    d, evals = rng.normal(size=(10, 14)), []

    def code(part: FloatArray) -> tuple[FloatArray, FloatArray]:
        unit = d / np.linalg.norm(d, axis=1, keepdims=True)
        score = part @ unit.T
        kept = np.where(np.abs(score) >= np.sort(np.abs(score), axis=1)[:, -2:-1], score, 0)
        return kept, part - kept @ unit

    for step in range(1, 201):
        part = x[rng.integers(600, size=24)]
        kept, left = code(part)
        d += rate * kept.T @ left / 24
        if step % 10 == 0:
            evals.append(float((code(x[600:])[1] ** 2).mean()))
    return logged(eval_loss=evals)


def duel(seed: int, rate: float) -> Curves:
    """Match two moments by a generator against a critic; how far the moments end apart."""
    rng = np.random.default_rng(seed)
    made, critic, evals = np.array([0.0, 0.5]), np.zeros(2), []
    for step in range(1, 401):
        real = 2 + 0.7 * rng.normal(size=48)
        noise = rng.normal(size=48)
        fake = made[0] + made[1] * noise
        critic += 0.1 * np.array([real.mean() - fake.mean(), (real**2).mean() - (fake**2).mean()])
        critic *= 0.95
        slope = critic[0] + 2 * critic[1] * fake
        made += rate * np.array([slope.mean(), (slope * noise).mean()])
        made = np.clip(made, -6, 6)
        if step % 16 == 0:
            evals.append(abs(made[0] - 2) + abs(abs(made[1]) - 0.7))
    return logged(eval_mae=evals)


def diffusion(seed: int, rate: float) -> Curves:
    """Learn by cubic features which noise was added to points of a ring; Adam, decayed."""
    data = np.random.default_rng(76)
    angle = data.uniform(0, 6.3, 1_200)
    points = np.stack([np.cos(angle), np.sin(angle)], 1)

    def features(at: FloatArray) -> FloatArray:
        a, b = at.T
        return np.stack([a, b, a * a, a * b, b * b, a**3, a * a * b, a * b * b, b**3], 1) / 2

    rng = np.random.default_rng(seed)
    held = data.normal(size=(400, 2))
    w, first, second, losses, evals = 0.1 * rng.normal(size=(9, 2)), 0.0, 0.0, [], []
    for step in range(1, 361):
        noise = rng.normal(size=(32, 2))
        seen = features(points[rng.integers(800, size=32)] + 0.5 * noise)
        off = seen @ w - noise
        slope = seen.T @ off / 32
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        size = np.sqrt(second / (1 - 0.99**step)) + 1e-8
        w -= rate * (1 - step / 361) * first / (1 - 0.9**step) / size
        losses.append(float((off**2).mean()))
        if step % 18 == 0:
            evals.append(float(((features(points[800:] + 0.5 * held) @ w - held) ** 2).mean()))
    return logged(train_loss=losses[::4], eval_loss=evals)


def machine(seed: int, rate: float) -> Curves:
    """Learn binary patterns by a restricted Boltzmann machine, by one step of sampling."""
    data = np.random.default_rng(86)
    kinds = data.random((6, 20)) < 0.5
    x = (kinds[data.integers(6, size=900)] ^ (data.random((900, 20)) < 0.08)) * 1.0
    rng = np.random.default_rng(seed)
    w, a, b, evals = 0.1 * rng.normal(size=(20, 12)), np.zeros(20), np.zeros(12), []
    for step in range(1, 301):
        seen = x[rng.integers(600, size=16)]
        hidden = sigmoid(seen @ w + b)
        again = sigmoid((hidden > rng.random(hidden.shape)) @ w.T + a)
        later = sigmoid(again @ w + b)
        w += rate * (seen.T @ hidden - again.T @ later) / 16
        a += rate * (seen - again).mean(0)
        b += rate * (hidden - later).mean(0)
        if step % 10 == 0:
            back = sigmoid(sigmoid(x[600:] @ w + b) @ w.T + a)
            evals.append(float(((back - x[600:]) ** 2).mean()))
    return logged(eval_recon=evals)


def components(seed: int, rate: float) -> Curves:
    """Follow the three widest directions of a stream by Oja's rule; what they leave over."""
    data = np.random.default_rng(89)
    x = data.normal(size=(1_000, 12)) * np.linspace(2, 0.4, 12)
    rng = np.random.default_rng(seed)
    w, evals = np.linalg.qr(rng.normal(size=(12, 3)))[0], []
    for step in range(1, 321):
        seen = x[rng.integers(700, size=4)]
        w = np.linalg.qr(w + rate * seen.T @ (seen @ w) / 4)[0]
        if step % 16 == 0:
            evals.append(float(((x[700:] - x[700:] @ w @ w.T) ** 2).mean()))
    return logged(eval_recon=evals)


def latent(seed: int, rate: float) -> Curves:
    """Train a linear variational autoencoder; its bound on held-out data, itself by sampling."""
    data = np.random.default_rng(104)
    x = data.normal(size=(900, 3)) @ data.normal(size=(3, 10)) + 0.5 * data.normal(size=(900, 10))
    rng = np.random.default_rng(seed)
    into, out = 0.1 * rng.normal(size=(10, 4)), 0.1 * rng.normal(size=(4, 10))
    spread, losses, evals = np.zeros(4), [], []

    def bound(rows: FloatArray) -> list[FloatArray]:
        mean = x[rows] @ into
        code = mean + np.exp(spread) * rng.normal(size=mean.shape)
        off = code @ out - x[rows]
        each = (off**2).sum(1) / 2 + (mean**2 + np.exp(2 * spread) - 2 * spread - 1).sum(1) / 2
        return [each, mean, code, off]

    for step in range(1, 401):
        rows = rng.integers(600, size=24)
        each, mean, code, off = bound(rows)
        pull = off @ out.T
        wide = np.exp(spread) * (pull * (code - mean) / np.exp(spread)).mean(0)
        into = into - rate * np.clip(x[rows].T @ (pull + mean) / 24, -2, 2)
        out = out - rate * np.clip(code.T @ off / 24, -2, 2)
        spread = spread - rate * np.clip(wide + np.exp(2 * spread) - 1, -2, 2)
        losses.append(float(each.mean()))
        if step % 20 == 0:
            evals.append(float(bound(np.arange(600, 900))[0].mean()))
    return logged(4, train_loss=losses[::4], eval_loss=evals)


def hidden_states(seed: int, rate: float) -> Curves:
    """Fit a chain of three hidden states by online EM over stretches; held-out log-likelihood."""
    data = np.random.default_rng(107)
    true = np.array([[0.9, 0.08, 0.02], [0.1, 0.85, 0.05], [0.05, 0.15, 0.8]])
    state, seen = 0, []
    for _ in range(1_600):
        state = int((true[state].cumsum() > data.random()).argmax())
        seen.append((-2.0, 0.0, 1.8)[state] + 0.8 * data.normal())
    x = np.array(seen)
    rng = np.random.default_rng(seed)
    move, mean = np.full((3, 3), 0.15) + 0.55 * np.eye(3), np.sort(rng.normal(size=3))
    losses, evals = [], []

    def forward(part: FloatArray) -> tuple[list[FloatArray], FloatArray, float]:
        likely = np.exp(-0.5 * ((part[:, None] - mean) / 0.8) ** 2) / 2 + 1e-12
        belief, total = [likely[0] / likely[0].sum()], float(np.log(likely[0].sum() / 3))
        for one in likely[1:]:
            now = belief[-1] @ move * one
            total += float(np.log(now.sum()))
            belief.append(now / now.sum())
        return belief, likely, -total / len(part)

    for step in range(1, 91):
        first = int(rng.integers(1_140))
        part = x[first : first + 60]
        belief, likely, loss = forward(part)
        behind, pairs, weight = np.ones(3), np.zeros((3, 3)), [belief[-1]]
        for t in range(58, -1, -1):
            both = belief[t][:, None] * move * likely[t + 1] * behind
            pairs += both / both.sum()
            behind = move @ (likely[t + 1] * behind)
            behind = behind / behind.sum()
            weight.append(belief[t] * behind / (belief[t] @ behind))
        share = np.array(weight[::-1])
        now = rate / (1 + step / 30)
        move = (1 - now) * move + now * (pairs + 0.1) / (pairs + 0.1).sum(1, keepdims=True)
        mean = (1 - now) * mean + now * (share.T @ part) / (share.sum(0) + 1e-3)
        losses.append(loss)
        if step % 9 == 0:
            evals.append(forward(x[1_200:])[2])
    return logged(train_loss=losses, eval_loss=evals)
