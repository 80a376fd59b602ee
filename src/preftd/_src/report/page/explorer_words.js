// Numbers and diagnoses in words, as `preftd diagnose` prints them.

globalThis.preftdExplorer ??= {};

// The input cannot be used; the message says why, and what to do about it.
preftdExplorer.InputError = class InputError extends Error {};

preftdExplorer.words = (() => {
  "use strict";

  const ROUNDING = 1e-12; // relative size below which a computed eigenvalue or sum counts as 0

  // A number as users type it, for messages: with some digits, as Python's format "g" writes it.
  function general(x, digits = 4) {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
    const [mantissa, exponent] = (x + 0).toExponential(digits - 1).split("e");
    if (exponent >= -4 && exponent < digits) return String(Number(x.toPrecision(digits)) + 0);
    const power = `${Math.abs(exponent)}`.padStart(2, "0");
    return `${Number(mantissa)}e${exponent < 0 ? "-" : "+"}${power}`;
  }

  // What was typed, as it may stand in a message.
  const short = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

  const isNegative = (sums) =>
    Math.min(...sums) < -ROUNDING * Math.max(1, ...sums.map(Math.abs));

  function verdict(diagnosis) {
    if (diagnosis.eigenvalues.length === 0) return "does nothing";
    return diagnosis.stable ? "converges" : "diverges";
  }

  function definite(diagnosis) {
    if (!diagnosis.positiveDefinite || diagnosis.eigenvalues.length === 0) return "no";
    return diagnosis.undetermined > 0 ? "where determined" : "yes";
  }

  function eigenvalue([real, imaginary]) {
    if (imaginary === 0) return preftdNumberText(real);
    return `${preftdNumberText(real)} ± ${preftdNumberText(Math.abs(imaginary))}i`;
  }

  // A value error, or a dash; those of exact values are 0 but for rounding.
  function error({ fixedPoint }, found) {
    if (found === null) return "–";
    const rounding = ROUNDING * Math.max(...fixedPoint.map(Math.abs));
    return preftdNumberText(found > rounding ** 2 ? found : 0);
  }

  // The eigenvalues in a line, at most three, the one that matters first.
  function eigenvalues({ eigenvalues: all }) {
    const above = all.filter(([, imaginary]) => imaginary >= 0);
    const each = above.sort(([x], [y]) => x - y).map(eigenvalue);
    const shown = each.slice(0, 3).join(", ") || "none";
    return `eigenvalues of A: ${shown}${each.length > 3 ? ", …" : ""}`;
  }

  // Why a rule converges or does not, in a sentence or two.
  function reason(diagnosis) {
    const { eigenvalues, weights, columnSums } = diagnosis;
    if (eigenvalues.length === 0) {
      return weights.some((weight) => weight > 0)
        ? "updates nothing, because the updated states have features 0."
        : "updates nothing, because no visited state has a weight.";
    }
    if (!diagnosis.stable) {
      const worst = eigenvalues.reduce((least, one) => (one[0] < least[0] ? one : least));
      const plural = worst[1] === 0 ? "" : "s";
      let cause =
        "the expected update diverges for every step size: A has the " +
        `eigenvalue${plural} ${eigenvalue(worst)}.`;
      if (isNegative(columnSums)) {
        const state = columnSums.indexOf(Math.min(...columnSums));
        cause +=
          ` State ${state} is bootstrapped from more than it is updated ` +
          `(column sum ${preftdNumberText(columnSums[state])}).`;
      }
      return cause;
    }
    if (!diagnosis.positiveDefinite) {
      return (
        "the expected update converges, but A is not positive definite, so no theorem guarantees " +
        "it: with other features of the same states it may diverge."
      );
    }
    if (diagnosis.undetermined > 0) {
      return (
        "the expected update converges in the directions that updated states show; the rest of w " +
        "never changes."
      );
    }
    return "the expected update converges to its one fixed point, because A is positive definite.";
  }

  return { ROUNDING, definite, eigenvalues, error, general, reason, short, verdict };
})();
