"""Every row of the table of messages: lines as they are printed, and lines that only resemble."""

import pytest

from runlens.sources.console.messages import MESSAGES, search

LINES = {
    1: (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.75 GiB.",
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total)",
        "[rank3]: torch.cuda.OutOfMemoryError: Allocation on device",
        "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,073,741,824 bytes",
    ),
    2: (
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    ),
    3: (
        "RuntimeError: MPS backend out of memory (MPS allocated: 17 GB)",
        "torch.AcceleratorError: HIP out of memory. Tried to allocate 2.00 GiB",
        "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8",
        "RESOURCE_EXHAUSTED: Failed to allocate request for 2.0GiB: OOM when allocating tensor",
        "XLA:TPU compile permanent error. Ran out of memory in memory space hbm.",
        "failed to allocate 7.37GiB: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "OOM when allocating tensor with shape[8,3] and type float on /device:GPU:0 by GPU_0_bfc",
        "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 1.2GB memory",
        "MXNetError: pooled_storage_manager.h:157: cudaMalloc failed: out of memory",
        "syncedmem.cpp:56] Check failed: error == cudaSuccess (2 vs. 0)  out of memory",
        "RuntimeError: cuda runtime error (2) : out of memory at THCStorage.cu:58",
        "CUDARuntimeError: cudaErrorMemoryAllocation: out of memory",
        "Out of memory on device. To view more detail about available memory on the GPU, use",
        "ERROR: LoadError: Out of GPU memory trying to allocate 512.000 MiB",
        "MemoryError: Error allocating 1073741824 bytes of device memory (out of memory).",
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB",
    ),
    4: (
        "OSError: [Errno 12] Cannot allocate memory",
        "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried",
        "RuntimeError: DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.",
        "MemoryError",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an array",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "java.lang.OutOfMemoryError: Java heap space",
        "ERROR: LoadError: OutOfMemoryError()",
        "Error: cannot allocate vector of size 3.7 Gb",
    ),
    5: (
        "run.sh: line 7: 26655 Killed                  python train.py",
        "Killed",
        "srun: error: n1: task 0: Killed",
        "srun: error: n1: tasks 0-3,5: Killed",
        "  exitcode  : -9 (pid: 4711)",
        "Command exited with code 137",
        "  traceback : Signal 9 (SIGKILL) received by PID 4711",
    ),
    129: (
        "kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null)",
        "Last State: Terminated, Reason: OOMKilled",
        "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
        "=>> PBS: job killed: mem 9437184kb exceeded limit 8388608kb",
    ),
    6: (
        "ERROR: Unexpected bus error encountered in worker.",
        "  exitcode  : -7 (pid: 4711)",
        "  traceback : Signal 7 (SIGBUS) received by PID 4711",
    ),
    7: (
        "Segmentation fault (core dumped)",
        "  exitcode  : -11 (pid: 4711)",
        "Fatal: signal 11 received",
        "process ended with exit code 139",
    ),
    115: (
        r"C:\Python311\python.exe: can't open file 'train.py': [Errno 2] No such file",
        "python3: can't open file '/opt/app/train.py': [Errno 2] No such file or directory",
    ),
    126: (
        "OSError: out/ does not appear to have a file named config.json. Checkout 'main'",
        "OSError: Error no file named pytorch_model.bin found in directory out/checkpoint-5",
    ),
    127: (
        "ModuleNotFoundError: No module named 'src.trainer'",
        "ModuleNotFoundError: No module named 'utils'",
    ),
    122: (
        "bash: python: command not found",
        "./launch.sh: line 7: torchrun: command not found",
        "zsh: command not found: accelerate",
        "nohup: failed to run command 'python': No such file or directory",
        "'python' is not recognized as an internal or external command,",
    ),
    123: (
        "/usr/bin/python3: No module named trainer.main",
        "python: No module named pkg",
    ),
    116: (
        "train.py: error: unrecognized arguments: --lr 0.1",
        "train.py: error: the following arguments are required: --data",
        "train.py: error: argument --model: invalid choice: 'x' (choose from 'a', 'b')",
    ),
    117: ("UnicodeEncodeError: 'charmap' codec can't encode character '\\u2713' in position 0",),
    118: ("Exception: The wandb backend process has shutdown",),
    119: ("TypeError: `generator` yielded an element of shape (4, 2) where (8, 2) was expected",),
    120: ("mlflow.exceptions.MlflowException: API request to http://host/api failed",),
    121: ("InvalidArgumentError: Key: image/name.  Can't parse serialized Example.",),
    105: ("RuntimeError: DataLoader worker (pid 7) is killed by signal: Terminated.",),
    8: (
        "  traceback : Signal 6 (SIGABRT) received by PID 5071",
        "  exitcode  : -6 (pid: 4711)",
        "process ended with exit code 134",
    ),
    9: (
        "slurm: Received signal 15",
        "  exitcode  : -15 (pid: 4711)",
        "Received SIGTERM, saving a checkpoint",
        "process ended with exit code 143",
        "torch.distributed.elastic.multiprocessing.api.SignalException: got signal: 1",
        "WARNING: Received Signals.SIGHUP death signal, shutting down workers",
    ),
    10: (
        "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2024-01-01 DUE TO TIME LIMIT ***",
        "=>> PBS: job killed: walltime 3605 exceeded limit 3600",
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
    ),
    11: (
        "*** JOB 17 CANCELLED DUE TO PREEMPTION ***",
        "slurmstepd: JOB 17 PREEMPTED",
        "received a preemption notice from the metadata server",
        "The instance trainer-7 was preempted, exiting",
        "State: PREEMPTED",
        "*** PREEMPTED ***",
        "spot instance interruption in two minutes",
    ),
    12: (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=17.batch",
        "slurmstepd: error: Exceeded job memory limit",
        "slurmstepd: error: Step 17.0 exceeded memory limit (9 > 8), being killed",
        "slurmstepd-n1: error: Detected 1 oom_kill event in StepId=17.batch",
        "srun: error: n1: task 0: Out Of Memory",
        "State: OUT_OF_MEMORY (exit code 0)",
    ),
    13: (
        "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2024-01-01 ***",
        "slurmstepd-n1: error: *** JOB 17 ON n1 CANCELLED AT 2024-01-01 ***",
    ),
    14: (
        "KeyboardInterrupt",
        "[rank1]: KeyboardInterrupt",
        "Exiting from training early",
        "^C",
        "2025-08-01 14:31:12 - root - INFO: - Saved interrupt",
    ),
    15: ("RuntimeError: CUDA error: device-side assert triggered",),
    16: (
        "Loss.cu:240: Assertion `t >= 0 && t < n_classes` failed.",
        "Indexing.cu:1290: indexSelectLargeIndex: Assertion `srcIndex < srcSelectDimSize` failed.",
    ),
    132: ('Index.cu:92: Assertion `-sizes[i] <= index && "index out of bounds"` failed.',),
    17: ("IndexError: index out of range in self",),
    18: (
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "RuntimeError: CUDA error: misaligned address",
        "CUDA error at src/train.cu:120 code=700(cudaErrorIllegalAddress)",
    ),
    19: (
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "RuntimeError: CUDA error: invalid device ordinal",
        "RuntimeError: CUDA error: invalid device function",
    ),
    20: (
        "RuntimeError: CUDA driver version is insufficient for CUDA runtime version",
        "Error 804: forward compatibility was attempted on non supported HW",
        "RuntimeError: Unexpected error from cudaGetDeviceCount().",
    ),
    21: (
        "RuntimeError: CUDA error: unspecified launch failure",
        "RuntimeError: CUDA error: unknown error",
        "RuntimeError: CUDA error: the launch timed out and was terminated",
    ),
    22: (
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "NVRM: Xid (PCI:0000:3b:00): 63, Row Remapper: New row marked for remapping",
        "GPU 3 reports DBE in bank 2",
    ),
    23: (
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
        "Unable to determine the device handle for GPU: GPU is lost.",
    ),
    24: ("NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception",),
    25: (
        "NVRM: Xid (PCI:0000:3b:00): 74, pid=0",
        "NVLink: fatal error detected on link 3",
    ),
    26: ("RuntimeError: NCCL communicator was aborted on rank 1.",),
    27: (
        "[rank0]:[E] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
        "[E] WorkNCCL(SeqNum=17, OpType=ALLREDUCE) ran for 1800123 milliseconds before timing out.",
        "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA",
    ),
    28: (
        "NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error, NCCL version 2.18.1",
        "n1:17:42 [0] NCCL WARN Call failed, internal error",
        "NCCL error: remote process exited or there was a network error",
    ),
    29: ("RuntimeError: Detected mismatch between collectives on ranks.",),
    30: (
        "RuntimeError: [gloo/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:1 gloo",
        "RuntimeError: Connection reset by peer",
        "torch.distributed.DistNetworkError: Connection refused",
        "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
        "RuntimeError: Timed out initializing process group in store based barrier",
        "RuntimeError: The client socket has timed out after 900s while trying to connect",
        "RuntimeError: [gloo/pair.cc:41] Timed out waiting 45000ms for send operation",
    ),
    31: (
        "RuntimeError: The server socket has failed to bind (errno: 98 - Address already in use).",
        "Error: listen EADDRINUSE: 29500",
    ),
    32: (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
        "E torch.distributed.elastic.multiprocessing.api: failed (exitcode: 1) local_rank: 1",
    ),
    33: ("RuntimeError: Expected to have finished reduction in the prior iteration",),
    34: (
        "RuntimeError: Expected to mark a variable ready only once.",
        "Parameter at index 63 with name layers.0.weight has been marked as ready twice.",
    ),
    35: (
        "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: a mismatch",
        "Recomputed values for the following tensors have different metadata than during forward",
        "A different number of tensors was saved during the original forward and recomputation.",
    ),
    36: ("RuntimeError: 'weight' must be 2-D",),
    37: ("AttributeError: 'DummyOptim' object has no attribute 'step'",),
    38: (
        "ValueError: Please correct the following DeepSpeed config values that mismatch",
        "DeepSpeed config and TrainingArguments mismatch: ds_config mismatch",
    ),
    39: ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",),
    40: ("RuntimeError: Trying to backward through the graph a second time",),
    41: (
        "one of the variables needed for gradient computation has been modified by an inplace op",
    ),
    42: ("RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",),
    43: (
        "FloatingPointError: Minimum loss scale reached (0.0001).",
        "FloatingPointError: gradients are Nan/Inf",
        "AMP: Minimum loss scale reached",
    ),
    44: (
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536",
        "[deepspeed] OVERFLOW! Skipping step. Attempted loss scale: 65536, reducing to 32768",
        "[deepspeed] fp16 dynamic loss scale overflow! Skipping step. Attempted loss scale: 65536",
        "NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 64.0",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
    ),
    45: (
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore.",
        "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 1, reducing to 1",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 0.5",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1.9e-05",
    ),
    46: ("ValueError: Attempting to unscale FP16 gradients.",),
    47: (
        "RuntimeError: expected scalar type Half but found Float",
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and BFloat16",
    ),
    48: (
        "TypeError: Got unsupported ScalarType BFloat16",
        "TypeError: can't convert BFloat16 to a numpy array",
        "ValueError: BFloat16 TypeError in numpy()",
    ),
    49: (
        "RuntimeError: Error(s) in loading state_dict for LlamaForCausalLM:",
        "    size mismatch for lm_head.weight: copying a param with shape torch.Size([32000, 8])",
    ),
    131: ("## OAR [2024-12-19 15:09:21] Job 14057192 KILLED ##",),
    130: ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 7x2)",),
    50: ("ValueError: Asking to pad but the tokenizer does not have a padding token.",),
    51: (
        "ValueError: expected sequence of length 12 at dim 1 (got 9)",
        "ValueError: Unable to create tensor, you should probably activate padding",
        "RuntimeError: stack expects each tensor to be equal size, but got [3] at entry 0",
    ),
    52: (
        "ValueError: Cannot use apply_chat_template because tokenizer.chat_template is not set",
        "ValueError: `chat_template` is null",
        "ValueError: This tokenizer does not have a chat template",
    ),
    53: (
        "ValueError: Content end boundary is before start boundary",
        "Content end boundary is the same as start boundary",
    ),
    54: (
        "EOS token '</s>' not found in chat template",
        "EOT token '<|im_end|>' is encoded as multiple tokens",
    ),
    55: (
        "jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'role'",
        "jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant",
        "Empty template generated for turn 3",
    ),
    56: ("Token indices sequence length is longer than the specified maximum sequence length",),
    57: ("RuntimeError: Data processing error: CAS service error : ReqwestMiddleware Error",),
    58: (
        "huggingface_hub.errors.GatedRepoError: 401 Client Error.",
        "huggingface_hub.errors.HfHubHTTPError: 403 Forbidden",
        "huggingface_hub.errors.RepositoryNotFoundError",
    ),
    59: (
        "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='huggingface.co', port=443)",
        "429 Client Error: Too Many Requests for url: https://huggingface.co/api/models",
        "requests.exceptions.ConnectionError: (MaxRetryError('cdn-lfs.hf.co'))",
    ),
    60: (
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "Error while deserializing header: MetadataIncompleteBuffer",
        "Error while deserializing header: InvalidHeader",
    ),
    61: (
        "RuntimeError: PytorchStreamReader failed reading zip archive",
        "RuntimeError: failed finding central directory",
        "_pickle.UnpicklingError: invalid load key, 'v'.",
        "RuntimeError: unexpected EOF, expected 12 more bytes, not a valid pickle",
        "EOFError: Ran out of input",
    ),
    62: ("_pickle.UnpicklingError: Weights only load failed.",),
    63: ("RuntimeError: Some tensors share memory, this will lead to duplicate memory on disk",),
    64: (
        "OSError: [Errno 28] No space left on device",
        "OSError: [Errno 122] Disk quota exceeded",
    ),
    65: ("OSError: [Errno 24] Too many open files",),
    66: (
        "PermissionError: [Errno 13] Permission denied: '/data'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'train.json'",
        "OSError: [Errno 30] Read-only file system: '/mnt'",
    ),
    67: ("RuntimeError: DataLoader worker (pid 17) is killed by signal: Killed.",),
    68: ("RuntimeError: DataLoader worker (pid(s) 17) exited unexpectedly",),
    69: (
        "RuntimeError: received 0 items of ancdata",
        "RuntimeError: unable to open shared memory object </torch_17_1> in read-write mode",
    ),
    70: ("KeyError: Caught KeyError in DataLoader worker process 0.",),
    71: (
        "ValueError: generation_batch_size (4) must be divisible by num_generations (8)",
        "The global train batch size (6) must be divisible by the number of generations per prompt",
    ),
    72: ("unable to load strategy my_rewards.accuracy",),
    73: (
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
        "RuntimeError: vllm: Engine core initialization failed. See root cause above.",
        "vllm.engine.async_llm_engine.AsyncEngineDeadError: Background loop has errored already.",
    ),
    74: (
        "ValueError: No available memory for the cache blocks.",
        (
            "The model's max seq len (32768) is larger than the maximum number of tokens that can"
            " be stored in KV cache (9000)."
        ),
    ),
    75: (
        "ImportError: /lib/flash_attn_2_cuda.so: undefined symbol: _ZN3c10",
        "OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
        "ImportError: /lib64/libc.so.6: version `GLIBC_2.32' not found",
    ),
    76: (
        "ModuleNotFoundError: No module named 'peft'",
        "ModuleNotFoundError: No module named 'utils3d'",
        "ImportError: cannot import name 'cached_download' from 'huggingface_hub'",
    ),
    77: (
        "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        "RuntimeError: FlashAttention only support fp16 and bf16 data type",
        "FlashAttention2 was asked for with a dtype that is float32",
    ),
    78: (
        "ValueError: Your setup doesn't support bf16/gpu.",
        "RuntimeError: Current CUDA Device does not support bfloat16",
    ),
    79: (
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",
        "torch._inductor.exc.LoweringException: AssertionError:",
        "NoValidChoicesError: No choices to select",
    ),
    80: (
        "triton.runtime.errors.OutOfResources: out of resource: shared memory",
        "triton.compiler.errors.CompilationError: at 12:8",
    ),
    81: ("ValueError: Target modules {'q'} not found in the base model.",),
    82: ("ValueError: You cannot perform fine-tuning on purely quantized models.",),
    83: ("trainable params: 0 || all params: 6,738,415,616 || trainable%: 0.0",),
    84: ("The current process just got forked, after tokenizers parallelism has been used.",),
    85: (
        "Warning: loss: nan detected",
        "stopping: 'loss': inf",
        "val_loss = nan",
        "Loss exploded to nan at step 32",
        "RuntimeError: loss is nan",
        "NaN loss encountered at step 4",
    ),
    125: (
        "[WARNING] NaN loss detected! Skipping batch.",
        "skipping batch 14 because of a NaN loss",
        "Loss is nan at iteration 7, skipping the update",
        "Non-finite loss encountered, this batch is skipped",
    ),
    86: ("Loss is too high, stopping training (loss_watchdog_threshold)",),
    87: (
        "wandb: Network error (ConnectionError), entering retry loop.",
        "wandb: ERROR Error while calling W&B API: run not found",
        "wandb.errors.CommError: It appears that you do not have permission",
        "wandb: the run crashed before it was synced",
    ),
    88: (
        "ValueError: Can't find a valid checkpoint at out/checkpoint-5",
        "ValueError: No valid checkpoint found in output directory (out)",
    ),
    89: (
        "ValueError: loaded state dict contains a parameter group that doesn't match the size",
        "ValueError: loaded state dict has a different number of parameter groups",
    ),
    90: ("ValueError: Expected more than 1 value per channel when training, got [1, 8]",),
    91: (
        "ValueError: Input contains NaN.",
        "ValueError: Input contains infinity or a value too large",
        "the column 'price' contains NaN values",
    ),
    92: (
        "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        "ValueError: The train dataset is empty",
        "RuntimeError: Dataset has length 0",
    ),
    93: (
        "KeyError: 'input_ids'",
        "KeyError: 'labels'",
        "KeyError: 'text'",
        "KeyError: 'messages'",
        "KeyError: 'conversations'",
        "KeyError: 'chosen'",
    ),
    94: ("ValueError: The model did not return a loss from the inputs, only logits.",),
    95: (
        "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
        "ValueError: Attempting to use gradient checkpointing on a frozen module",
    ),
    96: (
        "RuntimeError: scatter does not have a deterministic implementation",
        "RuntimeError: deterministic behavior was enabled with torch.use_deterministic_algorithms",
    ),
    97: (
        "OSError: We couldn't connect to 'https://huggingface.co' to load this file",
        "and couldn't find them in the cached files",
    ),
    98: ("TypeError: Object of type bool_ is not JSON serializable",),
    99: ("Traceback (most recent call last):",),
    100: ("UserWarning: resource_tracker: There appear to be 4 leaked semaphore objects",),
    128: (
        "slurmstepd: error: Exceeded step memory limit at some point.",
        "slurmstepd-n1: error: Exceeded job memory limit at some point. Job may have swapped.",
    ),
    101: (
        "[watchdog] no new output for 75 s, sending the end to 28029",
        "12:56:01 monitor WARNING | no heartbeat from trainer for 6 s",
        "12:56:13 monitor ERROR | trainer unresponsive, giving up",
        "rank 3 is not responding since 12:56",
        "the training process appears to be unresponsive",
        "rank 5 has stopped responding",
    ),
    102: (
        "RuntimeError: DataLoader worker (pid 17) is killed by signal: Bus error.",
        "RuntimeError: DataLoader worker (pid 17) is killed by signal: Segmentation fault.",
    ),
    103: ("WARNING: tokenization mismatch: 61 vs. 60. (ignored)",),
    104: (
        "OSError: [Errno 27] File too large",
        "SafetensorError: Error while serializing: I/O error: File too large (os error 27)",
    ),
    124: ("AssertionError: Torch not compiled with CUDA enabled",),
    106: (
        "ValueError: Mixed precision training (`--fp16`) can only be used on CUDA devices.",
        "ValueError: FP16 Mixed precision training can only be used on CUDA or NPU devices",
    ),
    107: (
        "KeyError: '_orig_mod.transformer.wte.weight'",
        'Unexpected key(s) in state_dict: "_orig_mod.transformer.wte.weight".',
    ),
    108: ("Exception: Dataset not found.",),
    111: ("RuntimeError: all elements of input should be between 0 and 1",),
    112: ("NotImplementedError: Reward function is not implemented for data_source='maze'",),
    114: ("RuntimeError: Parent directory models does not exist.",),
    113: ("RuntimeError: The size of tensor a (34) must match the size of tensor b (32)",),
    110: ("IndexError: Target 7 is out of bounds.",),
    109: ("[rank1]: Cuda failure 2 'out of memory'", "Cuda failure 'out of memory'"),
}

# lines that share their words with a row and mean something else
LOOK_ALIKES = {
    129: "TERM_OWNER: job killed by owner.",
    128: "slurmstepd: info: step memory limit 64G",
    127: "No module named src was asked for",
    114: "Parent directory models was created",
    113: "The size of tensor a is printed by the model summary",
    1: "Set max_split_size_mb to avoid CUDA out of memory errors.",
    2: "CUBLAS_STATUS_SUCCESS",
    3: "This may cause OOM errors; lower gpu_memory_utilization then.",
    4: "We use 10% of the memory for the buffer to avoid memory errors",
    5: "[2024-01-01] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 17",
    6: "the school bus was late, an error of the driver",
    7: "segmentation loss 0.5, fault tolerance on",
    8: "signal 60 of 100",
    9: "Registered the SIGTERM handler; handler for SIGTERM: save a checkpoint",
    10: "time limit: 24:00:00",
    11: "WARNING Sequence group 0 is preempted by PreemptionMode.RECOMPUTE mode",
    12: "slurmstepd: info: memory limit 64G",
    13: "slurmstepd: info: job 17 started",
    14: "press Ctrl-C to interrupt from the keyboard",
    15: "set CUDA_LAUNCH_BLOCKING=1 for device-side assertions",
    16: "Assertion passed: index in bounds",
    132: "the assertion was that no index lies out of bounds",
    17: "IndexError: list index out of range",
    18: "memory access pattern: sequential",
    19: "no CUDA error so far",
    20: "CUDA driver version: 12.4",
    21: "launch of 8 processes",
    22: "ECC: enabled",
    23: "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03",
    24: "Xid 0 of 12 transactions",
    25: "NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/NVLink",
    26: "NCCL communicator was created on rank 1",
    27: "[W] ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed",
    28: "NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
    29: "Detected 8 ranks",
    30: "urllib3: Retrying after connection broken by NewConnectionError: Connection refused",
    31: "the e-mail address is already known",
    32: "all child processes exited",
    33: "reduction finished",
    34: "ready",
    35: "Checkpoint saved; no error",
    36: "weights are 2-D",
    37: "optimizer: DummyOptim",
    38: "DeepSpeed config loaded from ds_config.json",
    39: "grad_fn=<NllLossBackward0>",
    40: "backward pass: 12 ms",
    41: "modified by hand",
    42: "function returned 12 values",
    43: "loss scale 65536.0",
    44: "Stack overflow question 429",
    45: "Current loss scale 32768",
    46: "loading fp16 weights",
    47: "scalar type of the model: bfloat16",
    48: "using bfloat16 mixed precision",
    49: "loading the state_dict of the optimizer",
    131: "## OAR [2024-12-19 15:09:21] Job 14057192 started ##",
    130: "mat1 and mat2 are multiplied",
    50: "padding token: <pad>",
    51: "sequences of length 2048",
    52: "chat_template: chatml",
    53: "boundary of the content",
    54: "EOS token found",
    55: "jinja2 3.1.4",
    56: "maximum sequence length: 2048",
    57: "CAS number 50-00-0",
    58: "HTTP 200 huggingface.co/api/models",
    59: "  9%|9         | 429/4800 [00:12<10:10, 6.51it/s]",
    60: "saved model.safetensors",
    61: "central directory of the data set: /data",
    62: "weights loaded",
    63: "sharing memory between workers",
    64: "space left: 12 GB",
    65: "opened 12 files",
    66: "Permissions were set",
    67: "DataLoader worker count: 8",
    68: "DataLoader worker 3 exited",
    69: "shared memory: 64 GB",
    70: "DataLoader worker process started",
    71: "batch size is divisible by the number of GPUs",
    72: "strategy: ddp",
    73: "vllm engine started",
    74: "KV cache: 12,345 blocks",
    75: "Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open"
    " shared object file: No such file or directory",
    76: "all modules were found",
    77: "using FlashAttention2",
    78: "bf16: true",
    79: "torch.compile took 12 s",
    80: "triton 3.1.0",
    81: "Target modules: all-linear",
    82: "fine-tuning a quantized model with LoRA",
    83: "trainable params: 0.5M || all params: 7B",
    84: "4 processes forked",
    85: "EarlyStopping: best_loss: inf, best val loss: inf, info: 3, path nanoGPT/loss",
    125: "nan_loss_guard: on; skip_steps: 0, loss is 2.5, no skipped batch",
    86: "loss_watchdog_threshold: 5.0",
    87: "wandb: WARNING tried to log to step 70 that is less than the current step 71",
    88: "found a valid checkpoint at out/checkpoint-500",
    89: "two parameter groups",
    90: "12 values per channel",
    91: "Input contains 12 columns",
    92: "Dataset length 100",
    93: "KeyError: 'foo'",
    94: "the model returned a loss",
    95: "gradient checkpointing: true",
    96: "deterministic: true",
    97: "connected to https://huggingface.co",
    98: "JSON serializable: yes",
    99: "no traceback",
    100: "resource_tracker started",
    101: "a watchdog was started",
    102: "DataLoader workers: 4, signal: none",
    103: "tokenization mismatch: none",
    104: "the file is not too large",
    105: "DataLoader workers were told to end: Terminated",
    106: "this kernel runs on CUDA devices",
    107: "model._orig_mod.forward was traced",
    115: "can't open file of the cache, a new one is made",
    126: "the model does not appear to have a plateau",
    122: "the key of the command was not found",
    123: "there is no module named so in the model",
    124: "the extension was compiled with CUDA 12",
    116: "the error: an argument of the optimizer is deprecated",
    117: "utf-8 codec can't encode emojis in old consoles",
    118: "the wandb backend process has started",
    119: "the loader yielded an element whose shape was checked",
    120: "MlflowException is caught by the callback",
    121: "can not parse serialized examples of old versions",
    108: "WARNING: Dataset not found, downloading it",
    111: "dropout should be between 0 and 1",
    112: "reward function for data_source maze",
    110: "the ball is out of bounds",
    109: "[rank1]: Cuda failure 'peer access is already enabled'",
}
HARMLESS = (
    "heartbeat from trainer after 2 s",
    "the metrics server is not responding, metrics are kept",
    "training is responsive to the learning rate",
    "/usr/lib/python3/site.py:3: FutureWarning: `torch_dtype` is deprecated! Use `dtype` instead!",
    "[WARNING] [runner.py:232:fetch_hostfile] Unable to find hostfile, will proceed with training",
    "Error in the reward: expected 3, got 4",
    "[INFO] [launch.py:351:main] Process 17 exits successfully.",
    "exit code 0",
    "namespace(path='/home/me/nanoGPT/inf', loss=None)",
)
RANKS = ("[rank3]: ", "[rank0]:[rank0]: ", "rank 1: ", "(WorkerDict pid=17) ")


def test_every_row_has_its_lines() -> None:
    """Each number stands once in the table, with samples and a look-alike here."""
    rows = [message.row for message in MESSAGES]
    assert len(rows) == len(set(rows))
    assert set(rows) == set(LINES) == set(LOOK_ALIKES) == set(range(1, 133))


@pytest.mark.parametrize("row", sorted(LINES))
def test_each_row_matches_its_lines(row: int) -> None:
    """A line as it is printed finds its row, in upper or lower case, whichever rank printed it."""
    for line in LINES[row]:
        for printed in (line, line.lower()):
            assert [hit.message.row for hit in search([printed])] == [row], printed


@pytest.mark.parametrize("row", sorted(LOOK_ALIKES))
def test_look_alikes_match_nothing(row: int) -> None:
    """Lines that only resemble a message are none."""
    assert search([LOOK_ALIKES[row]]) == []


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless_lines_match_nothing(line: str) -> None:
    """Warnings and notes of a run that is well."""
    assert search([line]) == []


@pytest.mark.parametrize("prefix", RANKS)
def test_a_rank_before_the_message_does_not_hide_it(prefix: str) -> None:
    """Launchers and Ray put the rank or the process before each line."""
    assert [hit.message.row for hit in search([prefix + LINES[1][0]])] == [1]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory.", 1),  # not MemoryError of the machine
        ("CUDA_ERROR_OUT_OF_MEMORY: out of memory", 3),  # not the state OUT_OF_MEMORY of Slurm
        ("wandb: Network error (ConnectionError): Connection refused", 87),  # only the tracker
        ("requests.exceptions.ConnectionError: huggingface.co: Connection refused", 59),
        ("Exception: Current loss scale already at minimum, OVERFLOW! Skipping step", 45),
        ("RuntimeError: DataLoader worker (pid 17) is killed by signal: Killed.", 67),
    ],
)
def test_of_two_rows_the_more_telling_one_is_taken(line: str, row: int) -> None:
    """Words that occur in the messages of two rows do not lead to the wrong class."""
    assert [hit.message.row for hit in search([line])] == [row]


def test_every_row_says_why_and_what_to_do() -> None:
    """Cause and fix are sentences; what the search looks for first stands in lower case."""
    for message in MESSAGES:
        assert message.cause.endswith(".")
        assert message.fix.endswith(".")
        assert all(need and need == need.lower() for need in message.needs)


CLASSES = {
    "oom": {1, 2, 3, 4, 74},
    "kill": {5, 9, 10, 11, 12, 13, 14, 67, 105, 129, 131},
    "hang": {26, 27, 29, 30, 101},
    "num": {42, 43, 44, 45, 85, 86, 125},
    "hardware": {22, 23, 25, 28},
    "config": {83},
    "data": {91, 103},
    "secondary": {8, 32},
    "noise": {56, 84, 87, 95, 100, 128},
    "fallback": {99},
}


def test_each_row_has_its_class() -> None:
    """The class decides which rule hears of a message; all others are known errors."""
    classes = {row: kind for kind, rows in CLASSES.items() for row in rows}
    assert {m.row: m.kind for m in MESSAGES} == {
        m.row: classes.get(m.row, "known") for m in MESSAGES
    }
