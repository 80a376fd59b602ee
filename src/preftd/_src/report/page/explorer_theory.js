// The expected update b − A w of TD(λ), ETD and PTD, exactly, as in preftd.theory.
//
//   A = Φᵀ diag(d∘ḡ) (I − PγC)⁻¹ (I − Pγ) Φ + Σ_s (d∘ḡ)(s) Σ_s       C = diag(1 − β)
//   b = Φᵀ diag(d∘ḡ) (I − PγC)⁻¹ r
//   ḡ = 1 for TD(λ), β for PTD, (1 − β) i + β f / d for ETD with f = (I − Pγᵀ)⁻¹ (d∘i)

globalThis.preftdExplorer ??= {};

preftdExplorer.theory = (() => {
  "use strict";

  const {
    EPSILON, column, completedBasis, dot, eigenvalues, largest, matrix, norm, product, singular,
    solveVector, sum, symmetricEigen, times, transpose,
  } = preftdExplorer.algebra;
  const { resolve } = preftdExplorer.chain;
  const { ROUNDING } = preftdExplorer.words;

  const RULES = {
    "TD(λ)": ({ beta }) => beta.map(() => 1),
    ETD: ({ beta, interest }, followOn) =>
      beta.map((b, s) => (1 - b) * interest[s] + b * followOn[s]),
    PTD: ({ beta }) => beta,
  };

  const columns = (vector) => vector.map((x) => [x]);
  const resolveVector = (m, right) => column(resolve(m, columns(right)), 0);

  // E[F | s], the expected follow-on of each state.
  function expectedFollowOn({ kept, visits, interest, states }) {
    const past = resolveVector(transpose(kept, states), visits.map((d, s) => d * interest[s]));
    return past.map((f, s) => (visits[s] > 0 ? f / visits[s] : interest[s]));
  }

  // Σ_s weights(s) Σ_s, where Σ_s is the covariance of the features of s.
  function meanCovariance({ covariance, size }, weights) {
    const mean = matrix(size, size, () => 0);
    (covariance ?? []).forEach((one, s) => {
      for (let i = 0; i < size; i++) {
        const row = Array.isArray(one) ? one[i] : one; // a variance, or a row of a matrix
        if (!Array.isArray(row)) mean[i][i] += weights[s] * row;
        else for (let j = 0; j < size; j++) mean[i][j] += weights[s] * row[j];
      }
    });
    return mean;
  }

  // Orthonormal directions of w, as columns: those that some states show, and the rest.
  function span(chain, seen) {
    const { features, size, states } = chain;
    const noise = symmetricEigen(meanCovariance(chain, seen.map(Number)));
    const spread = noise.vectors.map((direction, i) =>
      direction.map((x) => Math.sqrt(Math.max(noise.values[i], 0)) * x));
    const everything = [...features.filter((_, s) => seen[s]), ...spread];
    const scale = Array.from({ length: size }, (_, j) => norm(column(everything, j)) || 1);
    const { values, vectors } = singular(
      everything.map((row) => row.map((x, j) => x / scale[j])), size);
    const tolerance = EPSILON * Math.max(states, size) * values[0];
    const rank = values.filter((value) => value > tolerance).length;
    const free = size - rank;
    // Undo the scaling of columns: divide kernel vectors by it.
    const kernel = matrix(size, free, (i, j) => vectors[rank + j][i] / scale[i]);
    const basis = completedBasis(kernel, free);
    return { determined: basis.map((row) => row.slice(free)), undetermined: free };
  }

  function isPositiveDefinite(symmetric) {
    const scale = symmetric.map((row, i) => Math.sqrt(row[i]));
    if (!scale.every((x) => x > 0)) return false;
    const scaled = symmetric.map((row, i) => row.map((x, j) => x / (scale[i] * scale[j])));
    return Math.min(1, ...symmetricEigen(scaled).values) > ROUNDING;
  }

  // The w with A w = b on the determined directions, or null if A is singular there.
  function fixedPoint(reduced, target, determined) {
    const scale = reduced.map(largest);
    if (scale.includes(0)) return null;
    const scaled = reduced.map((row, i) => row.map((x) => x / scale[i]));
    const sizes = singular(scaled, scaled.length).values;
    if (sizes.length && !(sizes[0] / sizes.at(-1) <= 1 / EPSILON)) return null;
    return times(determined, solveVector(scaled, target.map((x, i) => x / scale[i])));
  }

  // The mean squared error of the values, weighted by `over` and including that of random features:
  // a function of w.
  function valueError(chain, over) {
    const total = sum(over);
    const shares = over.map((weight) => weight / total);
    const noise = meanCovariance(chain, shares);
    return (w) => {
      const bias = times(chain.features, w).map((value, s) => (value - chain.values[s]) ** 2);
      return dot(shares, bias) + dot(w, times(noise, w));
    };
  }

  // The visits of states with β > 0, which is where values are used; null without any.
  function preferredVisits({ visits, beta }) {
    const over = visits.map((d, s) => (beta[s] > 0 ? d : 0));
    return over.some((weight) => weight > 0) ? over : null;
  }

  // Diagnose each rule of RULES; what they share is computed once.
  function compare(chain) {
    const { kept, features, size, states, beta, visits, reward } = chain;
    const continued = kept.map((row) => row.map((p, t) => p * (1 - beta[t])));
    const next = product(kept, features, size);
    const shared = resolve(continued, features.map((row, s) => [
      ...row.map((x, j) => x - next[s][j]), reward[s], 1 - sum(kept[s]),
    ]));
    const followOn = expectedFollowOn(chain);
    return Object.entries(RULES).map(([rule, gain]) => {
      const weights = gain(chain, followOn).map((g, s) => visits[s] * g);
      const weighted = shared.map((row, s) => row.map((x) => weights[s] * x));
      const noise = meanCovariance(chain, weights);
      const both = product(transpose(features, size), weighted, size + 1);
      const A = noise.map((row, i) => row.map((x, j) => x + both[i][j]));
      const b = column(both, size);
      const sums = resolveVector(transpose(continued, states), weights);
      const bootstrapped = times(transpose(kept, states), sums);
      return diagnose(chain, {
        rule, A, b, weights,
        rowSums: column(weighted, size + 1),
        columnSums: sums.map((x, s) => x - bootstrapped[s]),
      });
    });
  }

  function diagnose(chain, update) {
    const { A, b, weights } = update;
    const { determined, undetermined } = span(chain, weights.map((weight) => weight > 0));
    const rank = chain.size - undetermined;
    const shown = transpose(determined, rank);
    const reduced = product(shown, product(A, determined, rank), rank);
    const symmetric = reduced.map((row, i) => row.map((x, j) => (x + reduced[j][i]) / 2));
    const found = eigenvalues(reduced);
    const sizes = found.map(([real, imaginary]) => Math.hypot(real, imaginary));
    const positiveDefinite = isPositiveDefinite(symmetric);
    const stable =
      positiveDefinite || found.every(([real]) => real > ROUNDING * Math.max(...sizes));
    const w = fixedPoint(reduced, times(shown, b), determined);
    const preferred = preferredVisits(chain);
    return {
      ...update, undetermined, positiveDefinite, stable,
      eigenvalues: found,
      smallestEigenvalue: Math.min(Infinity, ...symmetricEigen(symmetric).values),
      largestStepSize: stable
        ? Math.min(Infinity, ...found.map(([real], i) => (2 * real) / sizes[i] ** 2))
        : 0,
      fixedPoint: w,
      valueError: w && valueError(chain, chain.visits)(w),
      preferredError: w && preferred && valueError(chain, preferred)(w),
    };
  }

  // The weights w_0 … w_steps under expected updates.
  function meanTrajectory({ A, b }, stepSize, steps, start) {
    const trajectory = [start];
    for (let t = 0; t < steps; t++) {
      const w = trajectory[t];
      const next = [];
      for (let i = 0; i < w.length; i++) next.push(w[i] + stepSize * (b[i] - dot(A[i], w)));
      trajectory.push(next);
    }
    return trajectory;
  }

  return { compare, meanTrajectory, preferredVisits, valueError };
})();
