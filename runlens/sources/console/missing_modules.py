"""What the import of a module that is not there says, and the package that brings it."""

from runlens.patterns import lazy_re

_MISSING = lazy_re(r"No module named '?([A-Za-z_][\w.]*)'?(; '[\w.]+' is not a package)?")
# packages whose modules have other names, as PyPI has both
OTHERS = {
    "Box2D": "gymnasium[box2d]",
    "Crypto": "pycryptodome",
    "OpenGL": "PyOpenGL",
    "PIL": "pillow",
    "absl": "absl-py",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "flash_attn": "flash-attn",
    "git": "GitPython",
    "google.protobuf": "protobuf",
    "hydra": "hydra-core",
    "imblearn": "imbalanced-learn",
    "nvidia_smi": "nvidia-ml-py3",
    "pkg_resources": "setuptools",
    "pynvml": "nvidia-ml-py",
    "pytorch_lightning": "pytorch-lightning",
    "qwen_vl_utils": "qwen-vl-utils",
    "rouge_score": "rouge-score",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "stable_baselines3": "stable-baselines3",
    "tensorboard_logger": "tensorboard-logger",
    "umap": "umap-learn",
    "yaml": "pyyaml",
}
# packages whose modules have their name; of any other a name on PyPI may be a stranger's. Without
# `datasets` and `evaluate`, as folders and files of projects are called so, too
_OWN = """
accelerate albumentations bitsandbytes boto3 catboost comet_ml cupy deepspeed diffusers einops
fairseq ftfy gradio gym gymnasium h5py imageio jax jieba joblib keras librosa lightgbm lightning
loguru lxml matplotlib mlflow monai mpi4py networkx nibabel nltk numba numpy omegaconf onnx
onnxruntime open3d openai openpyxl optuna packaging pandas peft pettingzoo plotly protobuf
psutil pyarrow pycocotools pydantic ray regex requests rich sacrebleu safetensors scipy seaborn
sentencepiece seqeval shap soundfile spacy statsmodels sympy tabulate tensorboard tensorboardX
tensorflow tiktoken timm tokenizers toml torch torchaudio torchvision tqdm transformers triton
trl ujson ultralytics unsloth vllm wandb xgboost yacs yfinance
"""
OWN = frozenset(_OWN.split())


def missing_module(line: str) -> tuple[str, str] | None:
    """Return what the missing module of a line means and what to do; None where it names none.

    Python names the first part that it does not find: ``No module named 'a.b'`` says that ``a`` is
    there.
    """
    found = _MISSING.search(line)
    if found is None:
        return None
    name = found[1]
    package = OTHERS.get(name) or (name if name in OWN else "")
    if package:
        command = f"pip install {package}, in the environment that runs the script"
        return f"The module '{name}' is not installed.", f"Install it: {command}."
    above = name.rpartition(".")[0]
    if found[2] or above:
        above = above or name
        what = f"There is no module '{name}' in the '{above}' that Python found."
        todo = f"Print {above}.__file__: it may be a file or folder of the project with that name; "
        return what, f"{todo}else install the version that has it."
    todo = f"If {name} is a file or folder of the project, run the script from the folder that "
    todo += "holds it, or add this folder to PYTHONPATH; else install the package that brings it."
    return f"Python does not find the module '{name}'.", todo
