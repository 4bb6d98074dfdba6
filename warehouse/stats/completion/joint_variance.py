"""Variance of the mean of a cell: joint, over all models and benchmarks (statistics.md
§24 A).

The sweeps' own variances take the benchmarks as known when they look at models, and the
other way round: they neglect how blocks of benchmarks hang together.
"""

from __future__ import annotations

import numpy as np

from warehouse.stats.completion.sweeps import Factors
from warehouse.stats.core.inputs import FloatArray


def joint_variances(factors: Factors) -> FloatArray:
    """v_ij = gᵀH⁻¹g of every cell, shape (M, J).

    H, the information of all (f, t), has I and S⁻¹ on its diagonal and P_ij g gᵀ of
    each figure, g = (λ_j at f_i, x_i at t_j); the models are profiled out.
    """
    count, r = factors.f.shape
    width, size = factors.t.shape
    weights, loadings, x = factors.weights, factors.loadings, factors.x
    summed = weights @ (loadings[:, :, None] * loadings[:, None, :]).reshape(width, -1)
    of_models = np.linalg.inv(np.eye(r) + summed.reshape(count, r, r))
    # between a model and all benchmarks, shape (M, r, J(r + 1))
    pulls = weights[:, None, :] * loadings.T
    between = (pulls[:, :, :, None] * x[:, None, None, :]).reshape(count, r, -1)
    shares = of_models @ between
    whole = _of_benchmarks(factors)
    flat, flat_shares = between.reshape(count * r, -1), shares.reshape(count * r, -1)
    whole -= flat.T @ flat_shares
    inverse = np.linalg.inv(whole)
    through = flat_shares @ inverse
    model_part = of_models + through.reshape(count, r, -1) @ shares.transpose(0, 2, 1)
    own = np.arange(width)
    blocks = inverse.reshape(width, size, width, size)[own, :, own, :]
    crossed = through.reshape(count, r, width, size) @ x[:, None, :, None]
    variances: FloatArray = np.einsum("jr,irs,js->ij", loadings, model_part, loadings)
    variances += np.einsum("ia,jab,ib->ij", x, blocks, x)
    variances -= 2 * np.einsum("irj,jr->ij", crossed[:, :, :, 0], loadings)
    return variances


def _of_benchmarks(factors: Factors) -> FloatArray:
    """The information of the benchmarks given the models, shape (J(r + 1), J(r + 1))."""
    width, size = factors.t.shape
    squares = factors.x[:, :, None] * factors.x[:, None, :]
    summed = factors.weights.T @ squares.reshape(-1, size**2)
    own = np.linalg.inv(factors.spread) + summed.reshape(width, size, size)
    whole = np.zeros((width, size, width, size))
    numbers = np.arange(width)
    whole[numbers, :, numbers, :] = own
    return whole.reshape(width * size, width * size)
