"""Token pooling: fewer vectors a turn, each the mean of some that are alike."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

Vectors = npt.NDArray[np.float32]


def pooled(vectors: Vectors, factor: int) -> Vectors:
    """About one vector for every `factor` of a turn's token vectors, shape (ceil(n / factor), dim) or less.

    Ward's clusters, each as its mean, of unit length: Clavie, Chaffin, Adams 2024 (arXiv 2409.14683).
    """
    wanted = math.ceil(len(vectors) / factor)
    if len(vectors) < 2 or wanted == len(vectors):
        return vectors
    of_vector = fcluster(linkage(vectors, method="ward"), wanted, criterion="maxclust") - 1
    sums = np.zeros((int(of_vector.max()) + 1, vectors.shape[1]), np.float64)
    np.add.at(sums, of_vector, vectors)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)
