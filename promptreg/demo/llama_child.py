"""The child process of the demo: one llama.cpp server. `python -m promptreg.demo.llama_child --help`.

It ends when its standard input is closed, so it cannot outlive the process that started it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from promptreg.demo.model import find_model

MODEL_NAME = "smollm2-135m"
"""The name under which the model is served."""


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description="Serve the demo's model with llama.cpp until standard input ends.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--window", type=int, required=True, help="tokens of each slot")
    parser.add_argument("--slots", type=int, default=4, help="calls served at once")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cache", choices=("f16", "q4_0"), default="f16", help="type of the KV cache")
    options = parser.parse_args()
    # Ctrl-C reaches the whole process group; the parent decides when the server ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    import xllamacpp  # noqa: PLC0415 - an optional package, and --help does not need it

    params = xllamacpp.CommonParams()
    params.model.path = str(find_model())
    params.model_alias = {MODEL_NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_parallel = options.slots
    # llama.cpp splits its context evenly over the slots.
    params.n_ctx = options.window * options.slots
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.ui = False
    if options.cache == "q4_0":
        params.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_Q4_0
        params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_Q4_0
        # A quantised V cache exists with flash attention only.
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    server = xllamacpp.Server(params)
    sys.stdin.read()
    del server
    # llama.cpp's threads may still hold the interpreter; everything of interest has been sent.
    os._exit(0)


if __name__ == "__main__":
    main()
