"""Numbers that are fitted to numbers: held-out losses and errors."""

import numpy as np

from mechanisms.common import Curves, logged, softmax
from runlens.history import FloatArray


def boosting(seed: int, shrinkage: float) -> Curves:
    """Boost regression stumps on half of the rows each; error on held-out rows each round."""
    data = np.random.default_rng(51)
    x = data.normal(size=(700, 6))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + 0.4 * data.normal(size=700)
    rng = np.random.default_rng(seed)
    fit = np.zeros(700)
    errors = []
    for _ in range(60):
        rows = rng.choice(450, 225, replace=False)
        column = int(rng.integers(6))
        cut = float(x[rng.choice(rows), column])
        left = x[:, column] <= cut
        for side in (left, ~left):
            inside = rows[side[rows]]
            fit[side] += shrinkage * float((y - fit)[inside].mean()) if len(inside) else 0.0
        errors.append(float(np.sqrt(((y - fit)[450:] ** 2).mean())))
    return logged(eval_rmse=errors[1::2])


def langevin(seed: int, rate: float) -> Curves:
    """Sample weights of a regression by Langevin steps: the end never settles."""
    data = np.random.default_rng(55)
    x = data.normal(size=(900, 12))
    y = x @ data.normal(size=12) + 0.5 * data.normal(size=900)
    rng = np.random.default_rng(seed)
    w, losses, evals = np.zeros(12), [], []
    for step in range(500):
        rows = rng.integers(600, size=20)
        off = x[rows] @ w - y[rows]
        w += -rate * x[rows].T @ off / 20 + np.sqrt(rate) * 0.02 * rng.normal(size=12)
        losses.append(float((off**2).mean()))
        if step % 20 == 19:
            evals.append(float(((x[600:] @ w - y[600:]) ** 2).mean()))
    return logged(train_loss=losses[::5], eval_loss=evals)


def reservoir(seed: int, rate: float) -> Curves:
    """Predict a chaotic series by a random reservoir of its own and a trained readout."""
    data = np.random.default_rng(71)
    series = [0.4]
    for _ in range(1_400):
        series.append(3.8 * series[-1] * (1 - series[-1]))
    x = np.array(series) + 0.05 * data.normal(size=1_401)
    rng = np.random.default_rng(seed)
    inside, into = rng.normal(size=(40, 40)) * 0.12, rng.normal(size=40)
    state, states = np.zeros(40), []
    for value in x[:-1]:
        state = np.tanh(inside @ state + into * value)
        states.append(state)
    h, w, losses, evals = np.array(states), np.zeros(40), [], []
    for step in range(1, 301):
        rows = rng.integers(50, 900, size=16)
        off = h[rows] @ w - x[rows + 1]
        w -= rate * (1 - step / 301) * h[rows].T @ off / 16
        losses.append(float((off**2).mean()))
        if step % 12 == 0:
            evals.append(float(((h[900:] @ w - x[901:]) ** 2).mean()))
    return logged(train_loss=losses[::3], eval_loss=evals)


def quantiles(seed: int, rate: float) -> Curves:
    """Predict the nineties of skewed values from ten numbers by the pinball loss."""
    data = np.random.default_rng(74)
    x = data.normal(size=(1_300, 10))
    y = x @ data.normal(size=10) + np.exp(0.8 * data.normal(size=1_300)) * (1 + (x[:, 0] > 0))
    rng = np.random.default_rng(seed)
    w, bias, losses, evals = 0.2 * rng.normal(size=10), 0.0, [], []
    for step in range(480):
        rows = rng.integers(900, size=24)
        off = y[rows] - x[rows] @ w - bias
        pull = np.where(off > 0, 0.9, -0.1)
        now = rate * (1.0 if step < 240 else 0.1)
        w, bias = w + now * x[rows].T @ pull / 24, bias + now * float(pull.mean())
        losses.append(float((pull * off).mean()))
        if step % 32 == 31:
            off = y[900:] - x[900:] @ w - bias
            evals.append(float((np.where(off > 0, 0.9, -0.1) * off).mean()))
    return logged(4, train_loss=losses[::4], eval_loss=evals)


def recurrent(seed: int, rate: float) -> Curves:
    """Add marked numbers of a sequence by a small recurrent network, through time."""
    data = np.random.default_rng(81)
    x = data.random((700, 6))
    mark = (data.random((700, 6)) < 0.4) * 1.0
    goal = (x * mark).sum(1)
    rng = np.random.default_rng(seed)
    inside, into, out = 0.3 * rng.normal(size=(10, 10)), rng.normal(size=(2, 10)) / 2, np.zeros(10)

    def forward(rows: FloatArray) -> list[FloatArray]:
        states = [np.zeros((len(rows), 10))]
        for t in range(6):
            seen = np.stack([x[rows, t], mark[rows, t]], 1)
            states.append(np.tanh(states[-1] @ inside + seen @ into))
        return states

    losses, evals = [], []
    for step in range(1, 241):
        rows = rng.integers(500, size=24)
        states = forward(rows)
        off = states[-1] @ out - goal[rows]
        down, slope_in, slope_into = off[:, None] * out, 0.0 * inside, 0.0 * into
        slope_out = states[-1].T @ off / 24
        for t in reversed(range(6)):
            down = down * (1 - states[t + 1] ** 2)
            slope_in = slope_in + states[t].T @ down / 24
            slope_into = slope_into + np.stack([x[rows, t], mark[rows, t]]) @ down / 24
            down = down @ inside.T
        inside = inside - rate * np.clip(slope_in, -1, 1)
        into = into - rate * np.clip(slope_into, -1, 1)
        out = out - rate * np.clip(slope_out, -1, 1)
        losses.append(float((off**2).mean()))
        if step % 15 == 0:
            evals.append(float(((forward(np.arange(500, 700))[-1] @ out - goal[500:]) ** 2).mean()))
    return logged(train_loss=losses[::3], eval_loss=evals)


def counts(seed: int, rate: float) -> Curves:
    """Predict counts by a Poisson regression with Nesterov's momentum; held-out deviance."""
    data = np.random.default_rng(82)
    x = data.normal(size=(1_000, 12)) / 3
    y = data.poisson(np.exp(1 + x @ data.normal(size=12)))
    rng = np.random.default_rng(seed)
    w, speed, bias, losses, evals = 0.1 * rng.normal(size=12), np.zeros(12), 0.0, [], []
    for step in range(1, 361):
        rows = rng.integers(700, size=20)
        mean = np.exp(np.clip(x[rows] @ (w + 0.8 * speed) + bias, -6, 6))
        speed = 0.8 * speed - rate * x[rows].T @ (mean - y[rows]) / 20
        w, bias = w + speed, bias - rate * float((mean - y[rows]).mean())
        losses.append(float((mean - y[rows] * np.log(mean)).mean()))
        if step % 12 == 0:
            score = np.clip(x[700:] @ w + bias, -6, 6)
            evals.append(float((np.exp(score) - y[700:] * score).mean()))
    return logged(train_loss=losses[::4], eval_loss=evals)


def kernels(seed: int, rate: float) -> Curves:
    """Fit a bumpy plane by kernels at points of its own, with AdaGrad."""
    data = np.random.default_rng(84)
    x = data.uniform(-2, 2, size=(1_000, 2))
    y = np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1]) + 0.3 * data.normal(size=1_000)
    rng = np.random.default_rng(seed)
    at = rng.uniform(-2, 2, size=(50, 2))
    h = np.exp(-2 * ((x[:, None] - at) ** 2).sum(2))
    w, squares, losses, evals = np.zeros(50), np.full(50, 1e-3), [], []
    for step in range(1, 401):
        rows = rng.integers(700, size=8)
        off = h[rows] @ w - y[rows]
        slope = h[rows].T @ off / 8
        squares += slope**2
        w -= rate * slope / np.sqrt(squares)
        losses.append(float((off**2).mean()))
        if step % 50 == 0:
            evals.append(float(((h[700:] @ w - y[700:]) ** 2).mean()))
    return logged(train_loss=losses[::4], eval_loss=evals)


def filters(seed: int, rate: float) -> Curves:
    """Cancel an echo by normalised least squares as it drifts; the mean error of 25 samples."""
    rng, data = np.random.default_rng(seed), np.random.default_rng(91)
    echo = data.normal(size=16) * 0.8 ** np.arange(16)
    w, past, losses = np.zeros(16), np.zeros(16), []
    for _ in range(3_000):
        past = np.concatenate([[rng.normal()], past[:-1]])
        off = float((echo - w) @ past) + 0.2 * rng.normal()
        w += rate * off * past / (1 + past @ past)
        losses.append(off * off)
    return logged(train_loss=np.reshape(losses, (-1, 25)).mean(1).tolist())


def attention(seed: int, rate: float) -> Curves:
    """Recall the value that stood beside a key, by one head of attention; held-out loss."""
    data = np.random.default_rng(101)
    keys, values = np.eye(8), data.normal(size=(8, 6))
    order = np.argsort(data.random((800, 8)), axis=1)[:, :5]
    asked = data.integers(5, size=800)
    label = (np.arange(5) == asked[:, None]) * 1.0
    seen = np.concatenate([keys[order], values[data.integers(8, size=(800, 5))]], 2)
    query = keys[order[np.arange(800), asked]] + 0.3 * data.normal(size=(800, 8))
    rng = np.random.default_rng(seed)
    w, losses, evals = 0.1 * rng.normal(size=(8, 14)), [], []

    def heed(rows: FloatArray) -> FloatArray:
        return softmax(np.einsum("nd,dk,nsk->ns", query[rows], w, seen[rows]))

    for step in range(1, 361):
        rows = rng.integers(550, size=16)
        share = heed(rows)
        losses.append(float(-np.log((share * label[rows]).sum(1) + 1e-9).mean()))
        w -= rate * np.einsum("nd,ns,nsk->dk", query[rows], share - label[rows], seen[rows]) / 16
        if step % 40 == 0:
            rows = np.arange(550, 800)
            evals.append(float(-np.log((heed(rows) * label[rows]).sum(1) + 1e-9).mean()))
    return logged(train_loss=losses[::4], eval_loss=evals)


def adapter(seed: int, rate: float) -> Curves:
    """Tune a known map to a task near it by a change of rank two, from zero; six evaluations."""
    data = np.random.default_rng(102)
    base = data.normal(size=(16, 8)) / 4
    x = data.normal(size=(900, 16))
    goal = x @ (base + 0.15 * data.normal(size=(16, 1)) @ data.normal(size=(1, 8)))
    goal = goal + 0.4 * data.normal(size=(900, 8))
    rng = np.random.default_rng(seed)
    down, up, losses, evals = 0.3 * rng.normal(size=(16, 2)), np.zeros((2, 8)), [], []
    for step in range(1, 241):
        rows = rng.integers(600, size=16)
        off = x[rows] @ (base + down @ up) - goal[rows]
        slope = x[rows].T @ off / 16
        now = rate * (1 + np.cos(np.pi * step / 240)) / 2
        down, up = down - now * slope @ up.T, up - now * down.T @ slope
        losses.append(float((off**2).mean()))
        if step % 40 == 0:
            evals.append(float(((x[600:] @ (base + down @ up) - goal[600:]) ** 2).mean()))
    return logged(train_loss=losses[::3], eval_loss=evals)


def student(seed: int, rate: float) -> Curves:
    """Learn the soft answers of a teacher by a smaller layer; divergence on held-out inputs."""
    data = np.random.default_rng(105)
    x = data.normal(size=(1_000, 10))
    soft = softmax(np.tanh(x @ data.normal(size=(10, 40))) @ data.normal(size=(40, 5)) / 3)
    rng = np.random.default_rng(seed)
    one, two = rng.normal(size=(10, 14)) / 3, 0.1 * rng.normal(size=(14, 5))
    losses, evals = [], []
    for step in range(1, 421):
        rows = rng.integers(700, size=32)
        act = np.tanh(x[rows] @ one)
        share = softmax(act @ two)
        off = (share - soft[rows]) / 32
        losses.append(float((soft[rows] * np.log(soft[rows] / (share + 1e-9))).sum(1).mean()))
        one, two = (
            one - rate * x[rows].T @ (off @ two.T * (1 - act**2)),
            two - rate * act.T @ off,
        )
        if step % 60 == 0:
            share = softmax(np.tanh(x[700:] @ one) @ two)
            evals.append(float((soft[700:] * np.log(soft[700:] / share)).sum(1).mean()))
    return logged(train_loss=losses[::4], eval_loss=evals)


def hazards(seed: int, rate: float) -> Curves:
    """Rank who fails first by Cox's partial likelihood on small batches; held-out loss."""
    data = np.random.default_rng(109)
    x = data.normal(size=(700, 9))
    time = data.exponential(np.exp(-x @ data.normal(size=9) / 2))
    ended = data.random(700) < 0.7
    rng = np.random.default_rng(seed)
    w, speed, losses, evals = 0.1 * rng.normal(size=9), np.zeros(9), [], []

    def partial(rows: FloatArray) -> tuple[FloatArray, float]:
        rows = rows[np.argsort(-time[rows])]
        risk = np.exp(np.clip(x[rows] @ w, -8, 8))
        total = risk.cumsum()
        mean = (risk[:, None] * x[rows]).cumsum(0) / total[:, None]
        count = max(int(ended[rows].sum()), 1)
        slope = ((mean - x[rows]) * ended[rows][:, None]).sum(0) / count
        return slope, float((np.log(total / risk) * ended[rows]).sum() / count)

    for step in range(1, 281):
        slope, loss = partial(rng.choice(480, 24, replace=False))
        speed = 0.9 * speed + slope
        w = w - rate * speed
        losses.append(loss)
        if step % 28 == 0:
            evals.append(partial(np.arange(480, 700))[1])
    return logged(train_loss=losses[::3], eval_loss=evals)
