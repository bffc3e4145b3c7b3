"""Run llama.cpp's own HTTP server in this process until standard input ends.

Started as a script by ``llama_server.py``, by hand with standard input left open. The server is
the one inside the wheel ``xllamacpp``; it answers 503 while the model loads.
"""

from __future__ import annotations

import argparse
import os
import sys

import xllamacpp


def main() -> None:
    """Serve the model that the command line names."""
    options = _options()
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {"tiny"}
    params.port = options.port
    params.reuse_port = True  # the parent keeps the port bound, so that nobody else gets it
    params.n_parallel = options.slots
    params.n_ctx = options.context * options.slots
    params.ctx_shift = options.endless
    params.endpoint_metrics = True
    params.fit_params = False
    params.warmup = False
    params.cpuparams.n_threads = 1  # two threads for a megabyte wait for each other
    params.cpuparams_batch.n_threads = 1
    if options.api_key is not None:
        params.api_keys = [options.api_key]
    if options.gate is not None:
        # Reading this file is the last step of loading. A pipe in its place holds the load as
        # long as its other end is open; a file without bytes is an empty cache.
        params.speculative.types = [
            xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_CACHE
        ]
        params.speculative.ngram_cache.lookup_cache_static = f"/dev/fd/{options.gate}"
    _server = xllamacpp.Server(params)  # answers from threads of its own while it is referenced
    sys.stdin.read()
    os._exit(0)  # its destructor waits for ever where the load has only just ended


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--context", type=int, default=2048, help="tokens of one slot")
    parser.add_argument("--endless", action="store_true", help="drop old tokens when it is full")
    parser.add_argument("--api-key")
    parser.add_argument("--gate", type=int, help="descriptor of a pipe that holds the load")
    return parser.parse_args()


if __name__ == "__main__":
    main()
