// Dense linear algebra for a dozen states. A matrix is an array of rows, a vector an array.

globalThis.preftdExplorer ??= {};

preftdExplorer.algebra = (() => {
  "use strict";

  const EPSILON = Number.EPSILON;
  const SWEEPS = 60;

  // Plain loops where time matters: a drag has a sixtieth of a second for everything.
  function dot(x, y) {
    let total = 0;
    for (let i = 0; i < x.length; i++) total += x[i] * y[i];
    return total;
  }

  function matrix(rows, columns, entry) {
    const made = [];
    for (let i = 0; i < rows; i++) {
      const row = [];
      for (let j = 0; j < columns; j++) row.push(entry(i, j));
      made.push(row);
    }
    return made;
  }

  function largest(x) {
    let most = 0;
    for (let i = 0; i < x.length; i++) most = Math.max(most, Math.abs(x[i]));
    return most;
  }

  const identity = (size) => matrix(size, size, (i, j) => (i === j ? 1 : 0));
  const transpose = (a, columns) => matrix(columns, a.length, (i, j) => a[j][i]);
  const column = (a, j) => a.map((row) => row[j]);
  const times = (a, x) => a.map((row) => dot(row, x));
  const sum = (x) => x.reduce((total, entry) => total + entry, 0);
  const norm = (x) => Math.sqrt(dot(x, x));

  function product(a, b, columns) {
    const across = transpose(b, columns);
    return matrix(a.length, columns, (i, j) => dot(a[i], across[j]));
  }

  // Solve a x = y for each column of `right` by elimination with partial pivoting.
  function solve(a, right) {
    const size = a.length;
    const columns = size ? right[0].length : 0;
    const rows = a.map((row, i) => [...row, ...right[i]]);
    for (let k = 0; k < size; k++) {
      let pivot = k;
      for (let i = k + 1; i < size; i++) {
        if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
      }
      [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
      for (let i = k + 1; i < size; i++) {
        const factor = rows[i][k] / rows[k][k];
        if (factor === 0) continue;
        for (let j = k + 1; j < size + columns; j++) rows[i][j] -= factor * rows[k][j];
      }
    }
    const solution = matrix(size, columns, () => 0);
    for (let c = 0; c < columns; c++) {
      for (let i = size - 1; i >= 0; i--) {
        let rest = rows[i][size + c];
        for (let j = i + 1; j < size; j++) rest -= rows[i][j] * solution[j][c];
        solution[i][c] = rest / rows[i][i];
      }
    }
    return solution;
  }

  const solveVector = (a, right) => column(solve(a, right.map((entry) => [entry])), 0);

  // The rotation that makes the off-diagonal entry of [[p, r], [r, q]] zero: [cosine, sine].
  function rotation(p, q, r) {
    const zeta = (q - p) / (2 * r);
    const tangent = (zeta >= 0 ? 1 : -1) / (Math.abs(zeta) + Math.hypot(1, zeta));
    const cosine = 1 / Math.hypot(1, tangent);
    return [cosine, cosine * tangent];
  }

  function rotate(x, y, cosine, sine) {
    for (let k = 0; k < x.length; k++) {
      const before = x[k];
      x[k] = cosine * before - sine * y[k];
      y[k] = sine * before + cosine * y[k];
    }
  }

  // Eigenvalues of a symmetric matrix, and eigenvectors as rows (Jacobi's rotations).
  function symmetricEigen(symmetric) {
    const size = symmetric.length;
    const a = symmetric.map((row) => [...row]);
    const vectors = identity(size);
    const negligible = 1e-2 * EPSILON * largest(a.map(largest));
    for (let sweep = 0, rotated = true; rotated && sweep < SWEEPS; sweep++) {
      rotated = false;
      for (let i = 0; i < size; i++) {
        for (let j = i + 1; j < size; j++) {
          if (Math.abs(a[i][j]) <= negligible) continue;
          rotated = true;
          const [p, q, r] = [a[i][i], a[j][j], a[i][j]];
          const [cosine, sine] = rotation(p, q, r);
          rotate(a[i], a[j], cosine, sine);
          rotate(vectors[i], vectors[j], cosine, sine);
          for (let k = 0; k < size; k++) {
            a[k][i] = a[i][k];
            a[k][j] = a[j][k];
          }
          a[i][i] = p - (sine / cosine) * r;
          a[j][j] = q + (sine / cosine) * r;
          a[i][j] = a[j][i] = 0;
        }
      }
    }
    return { values: a.map((row, i) => row[i]), vectors };
  }

  // Singular values and right singular vectors (as rows), largest first: one-sided Jacobi, which
  // turns columns until they are orthogonal.
  function singular(a, columns) {
    const turned = transpose(a, columns);
    const right = identity(columns);
    const negligible = EPSILON * largest(turned.map(norm));
    for (let sweep = 0, rotated = true; rotated && sweep < SWEEPS; sweep++) {
      rotated = false;
      for (let i = 0; i < columns; i++) {
        for (let j = i + 1; j < columns; j++) {
          const x = turned[i];
          const y = turned[j];
          const p = dot(x, x);
          const q = dot(y, y);
          const r = dot(x, y);
          if (Math.min(p, q) <= negligible ** 2) continue;
          if (Math.abs(r) <= a.length * EPSILON * Math.sqrt(p * q)) continue;
          rotated = true;
          const [cosine, sine] = rotation(p, q, r);
          rotate(x, y, cosine, sine);
          rotate(right[i], right[j], cosine, sine);
        }
      }
    }
    const sizes = turned.map(norm);
    const order = sizes.map((_, j) => j).sort((i, j) => sizes[j] - sizes[i]);
    return { values: order.map((j) => sizes[j]), vectors: order.map((j) => right[j]) };
  }

  // A reflection that maps x onto a multiple of the first axis: [v, factor], H = I − factor v vᵀ.
  function reflection(x) {
    const size = norm(x);
    if (largest(x.slice(1)) === 0) return [x, 0];
    const v = [...x];
    v[0] += x[0] >= 0 ? size : -size;
    return [v, 2 / dot(v, v)];
  }

  // Apply a reflection to rows first, first + 1, … of a matrix, in columns from … to.
  function reflectRows(a, [v, factor], first, from, to) {
    for (let j = from; j < to; j++) {
      let share = 0;
      for (let i = 0; i < v.length; i++) share += factor * v[i] * a[first + i][j];
      for (let i = 0; i < v.length; i++) a[first + i][j] -= share * v[i];
    }
  }

  function reflectColumns(a, [v, factor], first, from, to) {
    for (let i = from; i < to; i++) {
      let share = 0;
      for (let j = 0; j < v.length; j++) share += factor * v[j] * a[i][first + j];
      for (let j = 0; j < v.length; j++) a[i][first + j] -= share * v[j];
    }
  }

  // An orthonormal basis of the whole space (as columns) that begins with one of the span of the
  // independent columns of a (Householder's QR).
  function completedBasis(a, columns) {
    const work = a.map((row) => [...row]);
    const basis = identity(a.length);
    for (let k = 0; k < columns; k++) {
      const mirror = reflection(column(work, k).slice(k));
      reflectRows(work, mirror, k, k, columns);
      reflectColumns(basis, mirror, k, 0, a.length);
    }
    return basis;
  }

  // Eigenvalues of a real matrix as [real, imaginary]: to Hessenberg form, then QR steps with two
  // shifts (Francis), splitting off one or two eigenvalues at a time from the end.
  function eigenvalues(a) {
    const size = a.length;
    const h = a.map((row) => [...row]);
    for (let k = 0; k < size - 2; k++) {
      const mirror = reflection(column(h, k).slice(k + 1));
      reflectRows(h, mirror, k + 1, k, size);
      reflectColumns(h, mirror, k + 1, 0, size);
    }
    const whole = largest(h.map(largest));
    const found = [];
    let tries = 0;
    for (let last = size - 1; last >= 0; ) {
      let first = last;
      while (first > 0) {
        const near = Math.abs(h[first][first]) + Math.abs(h[first - 1][first - 1]) || whole;
        if (Math.abs(h[first][first - 1]) <= EPSILON * near) break;
        first--;
      }
      if (first >= last - 1) {
        found.push(...(first === last ? [[h[last][last], 0]] : pair(h, first)));
        last = first - 1;
        tries = 0;
      } else {
        if (++tries > SWEEPS) {
          throw new preftdExplorer.InputError("the eigenvalues were not found: change β a little.");
        }
        francisStep(h, first, last, tries % 10 === 0);
      }
    }
    return found;
  }

  // The eigenvalues of the 2 × 2 block that begins at row k.
  function pair(h, k) {
    const [[a, b], [c, d]] = [k, k + 1].map((i) => [h[i][k], h[i][k + 1]]);
    const half = (a - d) / 2;
    const square = half * half + b * c;
    if (square < 0) return [[d + half, Math.sqrt(-square)], [d + half, -Math.sqrt(-square)]];
    const far = half + (half >= 0 ? 1 : -1) * Math.sqrt(square);
    return [[d + far, 0], [far === 0 ? d : d - (b * c) / far, 0]];
  }

  function francisStep(h, first, last, exceptional) {
    const [p, q] = [last - 1, last];
    let trace = h[p][p] + h[q][q];
    let determinant = h[p][p] * h[q][q] - h[p][q] * h[q][p];
    if (exceptional) {
      const kick = Math.abs(h[q][p]) + Math.abs(h[p][p - 1]);
      [trace, determinant] = [1.5 * kick, kick * kick];
    }
    const [top, left] = [h[first][first], h[first + 1][first]];
    let x = [
      top * top + h[first][first + 1] * left - trace * top + determinant,
      left * (top + h[first + 1][first + 1] - trace),
      left * h[first + 2][first + 1],
    ];
    for (let k = first; k < last; k++) {
      const mirror = reflection(x);
      reflectRows(h, mirror, k, Math.max(first, k - 1), last + 1);
      reflectColumns(h, mirror, k, first, Math.min(k + 4, last + 1));
      x = [1, 2, 3].filter((i) => k + i <= last).map((i) => h[k + i][k]);
    }
  }

  return {
    EPSILON, column, completedBasis, dot, eigenvalues, identity, largest, matrix, norm, product,
    singular, solve, solveVector, sum, symmetricEigen, times, transpose,
  };
})();
