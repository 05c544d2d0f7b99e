"""The embedding model in bfloat16 on a GPU beside float32 on CPUs: its rate, and that its vectors say the same.

Under five minutes: `pytest -m gpu -s tests/models/test_cuda.py`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from models.embedder import SentenceEmbedder
from models.windowed import WindowedConfig
from pipeline.synth.histories import history

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

MODEL = "all-MiniLM-L6-v2"


def texts() -> list[str]:
    sessions = history(seed=1, index=0, sessions=100)["haystack_sessions"]
    return [turn["content"] for session in sessions for turn in session]


def timed(embedder: SentenceEmbedder, said: Sequence[str]) -> tuple[float, np.ndarray]:
    embedder.embed_windows(said[:64])  # kernels are chosen at the first batches
    started = time.perf_counter()
    rows, vectors = embedder.embed_windows(said)
    seconds = time.perf_counter() - started
    return len(said) / seconds, vectors[np.unique(rows, return_index=True)[1]]


def test_bfloat16_on_a_gpu_gives_the_vectors_of_float32_on_cpus_within_rounding_and_the_same_neighbours():
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no GPU that CUDA can use")
    said = texts()
    on_gpu = SentenceEmbedder(WindowedConfig(MODEL, dtype="bfloat16"))
    assert on_gpu._model.device.type == "cuda"
    on_cpu = SentenceEmbedder(WindowedConfig(MODEL))
    on_cpu._model.to("cpu")
    (fast, gpu), (slow, cpu) = timed(on_gpu, said), timed(on_cpu, said)
    cosine = np.einsum("ij,ij->i", gpu, cpu)
    near = [np.argsort(-(vectors @ vectors.T), axis=1)[:, 1:11] for vectors in (gpu, cpu)]
    shared = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*near, strict=True)])
    print(
        f"\n{MODEL}, {len(said)} turns: bfloat16 on the GPU {fast:,.0f} a second, float32 on CPUs {slow:,.0f}: "
        f"{fast / slow:.0f} times"
    )
    print(
        f"cosine of the two: least {cosine.min():.4f}, mean {cosine.mean():.5f}; of ten neighbours {shared:.2f} shared"
    )
    assert np.isfinite(gpu).all()
    assert np.allclose(np.linalg.norm(gpu, axis=1), 1, atol=1e-3)
    assert cosine.min() > 0.99
    assert shared > 0.9
