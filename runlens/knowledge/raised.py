"""What exceptions of well-known libraries mean by their messages, and what to look at first.

Asked of an exception that ended a run, before its class alone (`exceptions`). A row a message, with
one as its library prints it, which is its test. Where a message names the place and the numbers at
fault, what to do says how to find them in the user's own code.
"""

import re

from runlens.patterns import lazy_re
from runlens.records import NamedTuple


class Meaning(NamedTuple):
    """What went wrong, and what to look at."""

    what: str  # noun phrase
    todo: str


class Said(NamedTuple):
    """A message, what it means, and one as it is printed."""

    form: str
    what: str  # noun phrase
    todo: str
    sample: str


SAID = (
    # NumPy and SciPy
    Said(r"inhomogeneous (?:shape|part)",
         "Rows of different lengths in one array",
         "Print the length of each row, and pad or cut them to one length",
         "ValueError: setting an array element with a sequence. The requested array has an "
         "inhomogeneous shape after 1 dimensions."),
    # of rows of different lengths NumPy 1.24 and later say so; older versions do not
    Said(r"setting an array element with a sequence|"
         r"float\(\) argument must be a string or a (?:real )?number, not '(?:list|tuple)'",
         "A list where the array takes one number",
         "Print the type and the length of its cells. Spread lists over columns, and pad or cut "
         "rows of different lengths",
         "ValueError: setting an array element with a sequence."),
    Said(r"only (?:size-1|length-1) arrays can be converted",
         "An array where a single number is expected",
         "Print its shape in that line; reduce it (mean, item) or index it",
         "TypeError: only size-1 arrays can be converted to Python scalars"),
    Said(r"operands could not be broadcast together",
         "Two arrays whose shapes do not fit",
         "Print both shapes in that line",
         "ValueError: operands could not be broadcast together with shapes (3,) (4,)"),
    Said(r"module 'numpy' has no attribute '(?:bool|int|float|object|str|complex)'",
         "A name that NumPy 1.24 removed",
         "Install numpy<1.24, or update the library whose line it is",
         "AttributeError: module 'numpy' has no attribute 'bool'."),
    Said(r"probabilities (?:contain NaN|do not sum to 1)",
         "Probabilities that are NaN or do not sum to 1",
         "Print the logits before that line: they became NaN or infinite earlier",
         "ValueError: probabilities contain NaN"),
    # Prophet, whose constructor hides why no backend of Stan could be loaded
    Said(r"'Prophet' object has no attribute 'stan_backend'",
         "Prophet finds no backend of Stan that loads",
         "Reinstall prophet and cmdstanpy together, then import cmdstanpy alone to see its error",
         "AttributeError: 'Prophet' object has no attribute 'stan_backend'"),
    # scikit-learn
    Said(r"Input (?:\w+ )?contains (?:NaN|infinity)",
         "Inputs that hold NaN or infinity",
         "Count the missing values of each column, then drop or impute them",
         "ValueError: Input X contains NaN."),
    Said(r"could not convert string to float",
         "A column of text among the numbers",
         "Encode or drop that column; the message quotes one of its values",
         "ValueError: could not convert string to float: 'male'"),
    Said(r"inconsistent numbers of samples",
         "Inputs and labels of different lengths",
         "Print both lengths, and find the step that drops rows of only one",
         "ValueError: Found input variables with inconsistent numbers of samples: [100, 99]"),
    Said(r"Expected 2D array, got (?:1D|scalar) array",
         "One row or one column where a table is expected",
         "Reshape it: (-1, 1) for one feature, (1, -1) for one sample",
         "ValueError: Expected 2D array, got 1D array instead"),
    Said(r"previously unseen labels",
         "A label that the encoder did not see when it was fitted",
         "Fit the encoder on the labels of all data, or map unknown ones",
         "ValueError: y contains previously unseen labels: 'cat'"),
    Said(r"Classification metrics can't handle a mix of",
         "Scores where the metric expects classes",
         "Turn the outputs into classes first (argmax, or a threshold)",
         "ValueError: Classification metrics can't handle a mix of binary and continuous targets"),
    Said(r"Target is multiclass but average='binary'",
         "A metric of two classes on labels of more",
         "Pass average='macro' or 'weighted' to the metric",
         "ValueError: Target is multiclass but average='binary'. Please choose another average"),
    Said(r"Only one class (?:is )?present in y_true",
         "An evaluation set with a single class",
         "Stratify the split, or evaluate on more rows",
         "ValueError: Only one class present in y_true. ROC AUC score is not defined"),
    Said(r"n_splits=\d+ cannot be greater than|least populated class in y has only",
         "A class with fewer rows than folds or splits need",
         "Count the rows of each class; drop the smallest, or use fewer folds",
         "ValueError: The least populated class in y has only 1 member, which is too few."),
    # PyTorch: shapes, types, devices
    Said(r"Expected input batch_size \(\d+\) to match target batch_size",
         "Outputs and labels of different batch sizes",
         "Print both shapes before the loss: a view or flatten merges the batch with another axis",
         "ValueError: Expected input batch_size (64) to match target batch_size (32)."),
    Said(r"target size .{1,60}different (?:to|from) the input size"
         r"|Target size .{1,60}must be the same as input size",
         "Outputs and labels of different shapes",
         "Print both shapes before the loss; squeeze the outputs or unsqueeze the labels",
         "ValueError: Target size (torch.Size([64])) must be the same as input size "
         "(torch.Size([64, 1]))"),
    Said(r"size of tensor a \(\d+\) must match the size of tensor b",
         "Two tensors whose shapes do not fit",
         "Print both shapes in that line",
         "RuntimeError: The size of tensor a (10) must match the size of tensor b (9)"),
    Said(r"shape '.{1,60}' is invalid for input of size|view size is not compatible",
         "A view of a shape that the tensor does not have",
         "Print its shape before that line; the last batch may be smaller (drop_last=True)",
         "RuntimeError: shape '[64, 784]' is invalid for input of size 37632"),
    Said(r"Expected tensor to have size at least \d+ at dimension \d+, but got size \d+ for "
         r"argument #\d+ '(?P<name>\w+)'",
         "A tensor that is shorter than the lengths passed with it: {name}",
         "Print the shape of {name} and these lengths; input and target lengths may be swapped",
         "RuntimeError: Expected tensor to have size at least 192 at dimension 1, but got size 50 "
         "for argument #2 'targets' (while checking arguments for ctc_loss_gpu)"),
    Said(r"object of type '(?P<name>(?:numpy\.)?(?:int|float|bool)_?\d*)' has no len\(\)",
         "A number where text or a list is expected: {name}",
         "Convert it before that call: names with str(), a single value to a list of one",
         "TypeError: object of type 'numpy.int64' has no len()"),
    Said(r"expected input\[.{1,60}\] to have \d+ channels",
         "Images with another number of channels than the first layer has",
         "Convert them when they are loaded, e.g. image.convert('RGB')",
         "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected "
         "input[32, 1, 224, 224] to have 3 channels, but got 1 channels instead"),
    Said(r"Expected all tensors to be on the same device"
         r"|Input type \(torch\.\w*\.?\w+Tensor\) and weight type",
         "Tensors on two devices, or of two types",
         "Print device and dtype of each tensor in that line; move inputs and model alike",
         "RuntimeError: Expected all tensors to be on the same device, but found at least two "
         "devices, cuda:0 and cpu!"),
    Said(r"[Ff]ound dtype \w+ but expected|expected \w+ (?:scalar type|dtype) \w+ but",
         "Two number types in one operation",
         "Cast inputs and labels to what it expects: .float() for numbers, .long() for classes",
         "RuntimeError: Found dtype Double but expected Float"),
    Said(r"can't convert cuda:?\d* device type tensor to numpy",
         "A tensor on the GPU handed to NumPy",
         "Call .detach().cpu() before .numpy()",
         "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()"),
    Said(r"Can't call numpy\(\) on Tensor that requires grad",
         "A tensor with a gradient handed to NumPy",
         "Call .detach() before .numpy()",
         "RuntimeError: Can't call numpy() on Tensor that requires grad."),
    Said(r"can't convert np\.ndarray of type numpy\.object_",
         "A table with text or missing values handed to PyTorch",
         "Print df.dtypes, and cast each column to float32 before torch.tensor",
         "TypeError: can't convert np.ndarray of type numpy.object_. The only supported types are"),
    Said(r"Boolean value of Tensor with more than one value is ambiguous",
         "A whole tensor where one truth value is expected",
         "Reduce it (.any(), .all()); a loss class may be called with the tensors as its arguments",
         "RuntimeError: Boolean value of Tensor with more than one value is ambiguous"),
    Said(r"Attempting to deserialize object on a CUDA device",
         "Weights saved on a GPU, loaded on a machine without one",
         "Pass map_location='cpu' to torch.load",
         "RuntimeError: Attempting to deserialize object on a CUDA device but "
         "torch.cuda.is_available() is False."),
    Said(r"No CUDA GPUs are available|Found no NVIDIA driver",
         "No GPU that this process can see",
         "Run nvidia-smi in the same shell, and print CUDA_VISIBLE_DEVICES",
         "RuntimeError: No CUDA GPUs are available"),
    Said(r"CUDNN_STATUS_(?:NOT_INITIALIZED|EXECUTION_FAILED|INTERNAL_ERROR)"
         r"|Failed to get convolution algorithm|No algorithm worked!",
         "cuDNN could not start: the GPU's memory is full, or the versions do not fit",
         "Run nvidia-smi: free the memory that others hold, then compare the versions of CUDA and "
         "cuDNN",
         "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"),
    Said(r"Ninja is required to load C\+\+ extensions",
         "The build tool ninja is missing",
         "pip install ninja",
         "RuntimeError: Ninja is required to load C++ extensions"),
    Said(r"Tried to step \d+ times\. The specified number of total steps is \d+",
         "A one-cycle schedule that was planned for fewer updates than the run makes",
         "Give OneCycleLR epochs * len(loader) as total_steps (the last, smaller batch counts, and "
         "resumed updates do too), and step it once an update",
         "ValueError: Tried to step 481 times. The specified number of total steps is 480"),
    Said(r"Expected parameter \w+ .{0,200}to satisfy the constraint",
         "A distribution whose parameters are NaN or out of range",
         "Print loss, gradient norm and inputs of the steps before: the policy became NaN earlier",
         "ValueError: Expected parameter logits (Tensor of shape (1, 4)) of distribution "
         "Categorical(logits: torch.Size([1, 4])) to satisfy the constraint"),
    Said(r"num_samples should be a positive integer|"
         r"num_samples=0",
         "A data set without a row",
         "Print its length and the folder that it reads",
         "ValueError: num_samples should be a positive integer value, but got num_samples=0"),
    Said(r"'DataParallel' object has no attribute|"
         r"'DistributedDataParallel' object has no attribute",
         "An attribute of the wrapped model asked of its wrapper",
         "Ask model.module for it",
         "AttributeError: 'DataParallel' object has no attribute 'config'"),
    Said(r"'NoneType' object (?:has no attribute|is not (?:subscriptable|iterable|callable))",
         "A value that is None: what should have made it failed or returned nothing",
         "Print it where it is made: a file that was not read, a function without a return",
         "AttributeError: 'NoneType' object has no attribute 'shape'"),
    # transformers: renamed in 4.46, the old names removed in 4.46 and 5.0
    Said(r"unexpected keyword argument 'evaluation_strategy'",
         "A setting that transformers renamed",
         "Write eval_strategy instead of evaluation_strategy",
         "TypeError: TrainingArguments.__init__() got an unexpected keyword argument "
         "'evaluation_strategy'"),
    Said(r"Trainer\.__init__\(\) got an unexpected keyword argument 'tokenizer'",
         "An argument that transformers and TRL renamed",
         "Pass processing_class=tokenizer instead of tokenizer=tokenizer",
         "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'tokenizer'"),
    # TensorFlow and Keras
    Said(r"Shapes? .{1,80}(?:are|is) incompatible|logits and labels must (?:have the same|be)",
         "Outputs and labels of different shapes",
         "Compare the units of the last layer with the labels: one-hot labels need "
         "categorical_crossentropy, class numbers the sparse one",
         "ValueError: Shapes (None, 1) and (None, 10) are incompatible"),
    Said(r"Input \d+ of layer .{1,60} is incompatible with the layer",
         "An input of another shape than the layer was built for",
         "Print the shape of one batch; add the missing axis, e.g. the channel",
         'ValueError: Input 0 of layer "conv2d" is incompatible with the layer: expected '
         "min_ndim=4, found ndim=3"),
    # models from the Hub and detectors
    Said(r"'(?:Dynamic|Static|Hybrid)?Cache' object has no attribute",
         "Model code from the Hub that is older than the installed transformers",
         "Install the version of transformers that the model's card names, or update its code",
         "AttributeError: 'DynamicCache' object has no attribute 'get_max_length'"),
    Said(r"names found for nc=|'names' length \d+ and 'nc: \d+' must match",
         "A data file whose number of classes (nc) is not that of its names",
         "Set nc in the data file to the number of names, or correct the names",
         "AssertionError: 11 names found for nc=10 dataset in data.yaml"),
    # files and data
    Said(r"cannot identify image file|image file is truncated|!_?(?:src\.)?empty\(\)|!buf\.empty",
         "An image that cannot be read",
         "Open all images once before training, and drop or download again those that fail",
         "PIL.UnidentifiedImageError: cannot identify image file 'x.jpg'"),
    Said(r"No columns to parse from file",
         "An empty table",
         "Print the path and the size of that file",
         "pandas.errors.EmptyDataError: No columns to parse from file"),
    Said(r"Error tokenizing data",
         "A table whose rows have different numbers of cells",
         "Look at the line that the message names; pass sep= or quotechar= as the file has them",
         "pandas.errors.ParserError: Error tokenizing data. C error: Expected 3 fields, saw 5"),
    Said(r"not found in axis|not in index|None of \[.{1,200}are in the",
         "A column that the table does not have",
         "Print df.columns just before that line: case and blanks count",
         "KeyError: \"['label'] not found in axis\""),
    # no program names a key of its own by one such sign; letters it does: batch['x']
    Said(r"^KeyError: (?P<q>['\"])(?P<name>[^\w\\]|[^\W\d_a-z]|\\[nrt])(?P=q)$",
         "A character that the vocabulary does not have: {name}",
         "Build the vocabulary from all parts of the data, or give unknown characters one entry of "
         "their own",
         "KeyError: '\u00e9'"),
    Said(r"invalid load key|Ran out of input|unpickling stack underflow",
         "A file that is no whole pickle: empty, cut off, or a pointer of Git LFS",
         "Print its size and first bytes; fetch it again (git lfs pull)",
         "_pickle.UnpicklingError: invalid load key, 'v'."),
    Said(r"'charmap' codec can't (?:en|de)code",
         "Text that the encoding of Windows does not have",
         "Set PYTHONUTF8=1, or pass encoding='utf-8' where the file is opened",
         "UnicodeEncodeError: 'charmap' codec can't encode character '\\u2713' in position 0"),
    Said(r"Unable to open file \(|unable to (?:synchronously )?open file",
         "A file of weights that is not where the code looks, or is no HDF5",
         "Compare the path in the message with the files that are there",
         "OSError: Unable to open file (unable to open file: name = 'model.h5', errno = 2"),
    Said(r"database is locked",
         "A SQLite file that another process writes to",
         "Give each process its own file, or stop the other one",
         "sqlite3.OperationalError: database is locked"),
    Said(r"Can't load (?:tokenizer|the model|config\w*|image processor|feature extractor) for",
         "A model that is neither on the Hub under that name nor in that folder",
         "Check the name; a local folder of the same name without its files hides the Hub's",
         "OSError: Can't load tokenizer for 'foo'. If you were trying to load it from"),
    Said(r"api_key not configured",
         "No login for W&B where no terminal can ask for it",
         "Set WANDB_API_KEY, or WANDB_MODE=offline",
         "wandb.errors.UsageError: api_key not configured (no-tty). call wandb.login()"),
    # environments
    Said(r"\bis not installed, (?:please )?run `?pip install",
         "A package that the environment needs",
         "Run the command that the message names",
         "gym.error.DependencyNotInstalled: box2D is not installed, run `pip install gym[box2d]`"),
    Said(r"Environment `?[\w-]+`? doesn't exist",
         "An environment that is not registered",
         "Check its name and version, and import the package that registers it",
         "gymnasium.error.NameNotFound: Environment `Breakout` doesn't exist."),
    Said(r"Cannot call env\.step\(\) before calling",
         "An environment that was not reset",
         "Call env.reset() at the start of each episode",
         "gymnasium.error.ResetNeeded: Cannot call env.step() before calling env.reset()"),
    Said(r"too many values to unpack \(expected [24]\)"
         r"|not enough values to unpack \(expected 5, got 4\)",
         "A call that returns another number of values than the code expects",
         "Count what that call returns; of gymnasium step gives 5 and reset 2, of old gym 4 and 1",
         "ValueError: too many values to unpack (expected 4)"),
    Said(r"\b(?P<name>[\w.-]+) is not installed",
         "A package that is not installed: {name}",
         "Install {name} in the environment of the run, or do without it",
         "ValueError: Cannot use GPU, CuPy is not installed"),
    Said(r"does not require grad and does not have a grad_fn",
         "A loss without a graph: weights that are frozen, or a graph that is cut",
         "With gradient checkpointing over frozen embeddings call enable_input_require_grads() or "
         "set use_reentrant to False; otherwise print which parameters require a gradient, and "
         "look for no_grad, detach and item between them and the loss",
         "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"),
    Said(r"(?i)\b(?:contain(?:s|ed|ing)?|has|have|found|encountered|got) (?:an? )?(?:some )?"
         r"(?:nan|inf|infinity|non-?finite)\b|\b(?:nan|non-?finite)s? (?:values? )?"
         r"(?:found|detected|encountered) in\b",
         "Values that are not finite, where the code expects numbers",
         "Check with isfinite each tensor or column that these values are made of, back to the "
         "first that is not finite",
         "ValueError: Hidden states contain NaN values"),
    # boosting
    Said(r"special JSON characters in feature name",
         "Names of columns with brackets, commas or colons",
         "Rename the columns to letters, digits and underscores",
         "lightgbm.basic.LightGBMError: Do not support special JSON characters in feature name."),
    Said(r"labels_?\.Size\(\) == preds|label and prediction size not match",
         "Labels that do not fit the outputs of the objective",
         "Set the objective and num_class for the labels; count from class 0 on",
         "xgboost.core.XGBoostError: Check failed: labels_.Size() == preds.Size()"),
    Said(r"\[Errno 32\] Broken pipe",
         "What read the output is gone: a closed terminal, or a pipe such as head",
         "Write the output to a file, and start the run under nohup, tmux or a scheduler",
         "BrokenPipeError: [Errno 32] Broken pipe"),
    Said(r"maximum recursion depth exceeded",
         "A function that calls itself without an end",
         "Look which call the traceback repeats",
         "RecursionError: maximum recursion depth exceeded"),
)  # fmt: skip
_FORMS = tuple((lazy_re(one.form, re.IGNORECASE), one) for one in SAID)


def said(exception: str) -> Meaning | None:
    """Return what an exception means by its message; None for one that no row knows.

    A row's words name what its form found, where it has a group for it.
    """
    for form, one in _FORMS:
        if found := form.search(exception):
            named = found.groupdict()
            return Meaning(one.what.format_map(named), one.todo.format_map(named))
    return None
