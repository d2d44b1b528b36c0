"""Words of other languages that training logs use, in English.

Names keep what they are called in the log; what they mean is asked here. Accents are folded and
full-width marks are those of ASCII (Unicode's NFKC), so that one spelling of each word is enough.
"""

import re
import unicodedata
from collections.abc import Mapping

from runlens.patterns import lazy_re

_ACCENTS = lazy_re("[\u0300-\u036f]")
# letters that no accent is set upon, so nothing is left of them without it: dotless i, d and l;
# and brackets of Chinese and Japanese: 【train】
_LETTERS = str.maketrans("\u0131\u0111\u0110\u0142\u0141\u00f8\u00d8\u3010\u3011", "idDlLoO[]")
_MEANINGS = {  # what is written without an alphabet of letters, or with another than the Latin one
    "train": "训练集 训练 訓練集 訓練 学習 학습 훈련 обучающ обучени тренировоч трейн тренув "
    "навчан التدريب تدريب آموزش εκπαίδευση εκπαίδευσης אימון प्रशिक्षण ฝึก",
    "val": "验证集 验证 驗證集 驗證 评估 検証 검증 валидацион валидаци валідац "
    "التحقق اعتبارسنجی επικύρωση επικύρωσης אימות सत्यापन ตรวจสอบ "
    "проверочн контрольн",
    "test": "测试集 测试 測試集 測試 テスト 테스트 тестов тест",
    "loss": "损失函数值 损失函数 损失值 损失 損失值 損失 손실 потери потерь потеря ошибка лосс "
    "втрати втрата الخسارة خسارة زیان خطا απώλεια απώλειας אובדן הפסד हानि ค่าสูญเสีย",
    "error": "误差 誤差 오차",
    "acc": "准确率 准确度 精确度 精度 正确率 準確率 正解率 정확도 точность точности точніст "
    "الدقة دقة دقت ακρίβεια דיוק सटीकता ความแม่นยำ "
    "доля_правильных_ответов доля_верных_ответов правильность",
    "lr": "学习率 學習率 学習率 학습률 скорость_обучения темп_обучения",
    "reward": "奖励 獎勵 報酬 보상 награда вознаграждение",
    "max": "макс максимум максимальн 最大",
    "mean": "均值 平均 평균 средний средняя средн",
    "ppl": "困惑度 당혹도 перплексия",
    "epoch": "轮次 轮数 エポック 에포크 에폭 эпох эпохи эпоха епоха епохи الحقبة حقبة εποχή युग",
    "episode": "回合 局数 에피소드 エピソード эпизод",
    "step": "步数 ステップ 스텝 шаг",
    "iter": "迭代次数 迭代 イテレーション итерация",
    "epsilon": "探索率",
    "policy": "策略",
    "entropy": "熵 энтропия エントロピー 엔트로피 ентропія",
    "ce": "交叉熵 交差エントロピー 교차_엔트로피 кросс_энтропия кросс-энтропия",
    "return": "累计回报 回报 累積報酬",
    "gnorm": "梯度范数 勾配ノルム 그래디언트_노름 норма_градиента",
    "batch": "批次 バッチ 배치 батч",
    "batch size": "批大小 批量大小 批次大小 バッチサイズ 배치_크기 размер_батча размер_пакета",
    "optimizer": "优化器 優化器 オプティマイザ 옵티마이저 оптимизатор",
    "model": "模型 モデル 모델 модель модел модели",
    "algorithm": "算法 アルゴリズム 알고리즘 алгоритм",
    "method": "方法 手法 방법 метод",
    "classifier": "分类器 分類器 분류기 классификатор",
    "current": "当前 當前 目前 текущая текущий",
}
# the script l of formulas is a loss, alone: with an index it is a norm, or a part
_SCRIPT_L = lazy_re("(?<!\\w)\u2113(?![\\w\u2080-\u2099])")
# letters of formulas, alone: "\u03c0-entropy", "\u03b5"
_SYMBOLS = {"\u03c0": "policy", "\u03b5": "epsilon", "\u03b7": "lr"}
_SYMBOL = lazy_re("(?<![\u0370-\u03ff])[\u03c0\u03b5\u03b7](?![\u0370-\u03ff])")
FEWEST_LETTERS = 6  # of a word that is cut at a point
_ENDINGS = r"[\u0430-\u044f\u0456\u0457\u0454\u0491]*"  # of Russian and Ukrainian words


def folded(text: str) -> str:
    """Return a text without accents, its full-width marks in ASCII.

    >>> folded("Época 3：pérdida")
    'Epoca 3:perdida'
    """
    text = unicodedata.normalize("NFKC", _SCRIPT_L.sub("loss", text)).translate(_LETTERS)
    text = text.replace("\u00df", "ss")  # as German writes it in capitals: no letter but a pair
    split = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", split))


_ENGLISH = {  # "_" stands for the space between two words that mean one thing
    folded(word).replace("_", " "): said
    for said, words in _MEANINGS.items()
    for word in words.split()
}
_WORD = lazy_re(
    "(" + "|".join(sorted(_ENGLISH, key=len, reverse=True)) + ")" + _ENDINGS,
    re.IGNORECASE,
)


def in_english(text: str, *, only: bool = False) -> str:
    """Return a text with the words of logs in English; ``only``: without all other letters.

    >>> in_english("测试集loss").split()
    ['test', 'loss']
    """
    if text.isascii():
        return text
    text = _SYMBOL.sub(lambda found: f" {_SYMBOLS[found[0]]} ", folded(text))
    said = _WORD.sub(lambda found: f" {_ENGLISH[found[1].lower()]} ", text)
    return said.encode("ascii", "ignore").decode() if only else said


_COUNTERS = {  # what counts, in words of Latin letters, where it is all of a name
    "step": "schritt schritte paso pasos passo passi passos krok kroki stap stappen steg adim",
    "iteration": "iteracion iterazione iteracao iteracja iteratie iterasyon",
    "epoch": "epoche epochen durchgang durchlauf epoca epocas epoche epoque epoques epoka epoki "
    "epok epocha donem devir",
    "episode": "episodio episodios episodi episodes epizod",
}
_COUNTS = {word: said for said, words in _COUNTERS.items() for word in words.split()}


def counter_in_english(name: str) -> str:
    """Return a name that is a counter in another language in English; others as they are.

    >>> counter_in_english("Schritt"), counter_in_english("Époque"), counter_in_english("Verlust")
    ('step', 'epoch', 'Verlust')
    """
    word = folded(name).strip().lower()
    return _COUNTS.get(word) or in_full(word, _COUNTS) or name


def in_full(word: str, known: Mapping[str, str]) -> str:
    """Return what all known words mean that a word, cut at a point, is the beginning of; or "".

    Five letters begin words of other fields as well: a "strat." is no loss.

    >>> in_full("verlus.", {"verlust": "loss", "verluste": "loss"}), in_full("verlust", {})
    ('loss', '')
    """
    cut = word.removesuffix(".")
    if cut == word or len(cut) < FEWEST_LETTERS or not cut.isalpha():
        return ""
    meant = {said for one, said in known.items() if one.isalpha() and one.startswith(cut)}
    return meant.pop() if len(meant) == 1 else ""


def words_of_logs(text: str) -> int:
    """Count the words of logs in a text of another language."""
    return len(_WORD.findall(folded(text)))
