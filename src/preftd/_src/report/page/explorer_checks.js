// Checks of the tables of a chain, with the messages of the library.

globalThis.preftdExplorer ??= {};

preftdExplorer.checks = (() => {
  "use strict";

  const { InputError } = preftdExplorer;
  const { largest, matrix, sum, symmetricEigen } = preftdExplorer.algebra;
  const { general } = preftdExplorer.words;

  const MOST_STATES = 12;
  const MOST_FEATURES = 20; // with more, eigenvalues take long, and are not always found
  const SUM_TOLERANCE = 1e-9;
  const FINITE = [(x) => Number.isFinite(x), "every entry must be a finite number"];
  const NOT_NEGATIVE = [(x) => x >= 0, "every entry must be 0 or more"];
  const UNIT = [(x) => x >= 0 && x <= 1, "every entry must lie in [0, 1]"];
  const SCALED = [
    (x) => x === 0 || (Math.abs(x) >= 1e-100 && Math.abs(x) <= 1e100),
    "rescale them all",
  ];

  const refuse = (sentence) => {
    throw new InputError(sentence);
  };

  // The lengths of nested arrays, outermost first, or null if rows differ.
  function shape(table) {
    if (!Array.isArray(table)) return typeof table === "number" ? [] : null;
    const inner = table.map(shape);
    if (inner.some((one) => one === null || `${one}` !== `${inner[0]}`)) return null;
    return [table.length, ...(inner[0] ?? [])];
  }

  const shown = (sizes) => `(${sizes.join(", ")}${sizes.length === 1 ? "," : ""})`;

  function check(name, table, [allowed, remedy], index = []) {
    if (Array.isArray(table)) {
      table.forEach((entry, i) => check(name, entry, [allowed, remedy], [...index, i]));
    } else if (!allowed(table)) {
      const where = index.length ? `[${index.join(", ")}]` : "";
      refuse(`${name}${where} is ${general(table, 6)}: ${remedy}.`);
    }
  }

  // The shape of a table of finite numbers.
  function checkedShape(name, table) {
    const sizes = shape(table);
    if (sizes === null) {
      refuse(`${name} is not an array of real numbers: give numbers, in rows of equal length.`);
    }
    check(name, table, FINITE);
    return sizes;
  }

  function checkedMatrix(name, table) {
    const sizes = checkedShape(name, table);
    if (sizes.length !== 2) {
      refuse(`${name} has shape ${shown(sizes)}: give a matrix, with a row per state.`);
    }
    return sizes;
  }

  function perState(name, table, states) {
    const sizes = checkedShape(name, table);
    if (sizes.length === 0) return Array(states).fill(table);
    if (`${sizes}` !== `${states}`) {
      refuse(
        `${name} has shape ${shown(sizes)} but there are ${states} states: ` +
          `give one number, or ${states}.`,
      );
    }
    return table;
  }

  // A number, one per state entered, or n × n, as n × n.
  function perTransition(name, table, states) {
    const sizes = checkedShape(name, table);
    if (sizes.length < 2) {
      const entered = perState(name, table, states);
      return matrix(states, states, (_, j) => entered[j]);
    }
    if (`${sizes}` !== `${[states, states]}`) {
      refuse(
        `${name} has shape ${shown(sizes)} but there are ${states} states: ` +
          "give a number, one per state, or a square matrix of that size.",
      );
    }
    return table;
  }

  function checkedTransition(table) {
    const sizes = checkedMatrix("transition", table);
    if (sizes[0] !== sizes[1] || sizes[0] === 0) {
      refuse(
        `transition has shape ${shown(sizes)}, which is not square: ` +
          "give a row and a column for each state.",
      );
    }
    check("transition", table, NOT_NEGATIVE);
    table.forEach((row, s) => {
      if (Math.abs(sum(row) - 1) > SUM_TOLERANCE) {
        refuse(
          `transition row ${s} sums to ${general(sum(row), 10)}, not 1: divide the row by its ` +
            "sum, or, if episodes end there, add a transition to the start of the next with " +
            "discount 0.",
        );
      }
    });
    if (sizes[0] > MOST_STATES) {
      refuse(
        `transition has ${sizes[0]} states and the explorer draws at most ${MOST_STATES}: ` +
          "use preftd diagnose.",
      );
    }
    return table;
  }

  function checkedStart(table, states) {
    const sizes = checkedShape("start", table);
    if (`${sizes}` !== `${states}`) {
      refuse(`start has shape ${shown(sizes)}: give ${states} probabilities.`);
    }
    check("start", table, NOT_NEGATIVE);
    if (Math.abs(sum(table) - 1) > SUM_TOLERANCE) {
      refuse(`start sums to ${general(sum(table), 10)}, not 1: divide it by its sum.`);
    }
  }

  function checkedCovariance(table, states, size) {
    const sizes = checkedShape("covariance", table);
    const known = [[states], [states, size], [states, size, size]];
    if (!known.some((one) => `${one}` === `${sizes}`)) {
      refuse(
        `covariance has shape ${shown(sizes)}: give ${states} variances, ${states} × ${size}, or ` +
          `${states} × ${size} × ${size}.`,
      );
    }
    if (sizes.length < 3) return check("covariance", table, NOT_NEGATIVE);
    table.forEach((one, s) => {
      const slack = 1e-9 * largest(one.map(largest));
      const skewed = one.some((row, i) => row.some((x, j) => Math.abs(x - one[j][i]) > slack));
      if (skewed || Math.min(...symmetricEigen(one).values) < -slack) {
        refuse(
          `covariance of state ${s} is not a covariance: give a symmetric matrix without ` +
            "negative eigenvalues.",
        );
      }
    });
    return undefined;
  }

  function checkedFeatures({ features, covariance }, states) {
    const [rows, size] = checkedMatrix("features", features);
    check("features", features, SCALED);
    if (size === 0) refuse("features has no columns: give at least one feature.");
    if (size > MOST_FEATURES) {
      refuse(
        `features has ${size} columns and the explorer takes at most ${MOST_FEATURES}: ` +
          "use preftd diagnose.",
      );
    }
    if (covariance !== undefined) checkedCovariance(covariance, rows, size);
    if (rows !== states) {
      refuse(
        `features has ${rows} rows but there are ${states} states: give a row for each state.`,
      );
    }
  }

  function checkedBeta(tables, states) {
    const given = ["beta", "lambda"].filter((name) => name in tables);
    if (given.length !== 1) {
      refuse(
        "beta and lambda (which is 1 − beta) are both given or both missing: give one of them.",
      );
    }
    const table = tables[given[0]];
    const name = given[0] === "beta" ? "beta" : "lambda_";
    const sizes = checkedShape(name, table);
    check(name, table, UNIT);
    const one = sizes.every((length) => length === 1) && sizes.length < 2;
    if (!one && `${sizes}` !== `${states}`) {
      refuse(
        `${name} has shape ${shown(sizes)}, which does not fit (${states},): ` +
          "give one number, or an array of that shape.",
      );
    }
    const each = one ? Array(states).fill([table].flat()[0]) : [...table];
    // Without the rounding error of the subtraction, so that 1 − 0.99 shows as 0.01.
    return name === "beta" ? each : each.map((x) => Number((1 - x).toPrecision(15)));
  }

  function checkedInterest(table, states) {
    checkedShape("interest", table);
    check("interest", table, NOT_NEGATIVE);
    return perState("interest", table, states);
  }

  // The expected reward on leaving each state.
  function checkedReward(table, transition) {
    const states = transition.length;
    if (checkedShape("reward", table).length < 2) return perState("reward", table, states);
    return perTransition("reward", table, states).map((row, s) =>
      sum(row.map((x, t) => x * transition[s][t])));
  }

  // The discount of each transition, n × n.
  function checkedDiscount(table, states) {
    const discount = perTransition("discount", table, states);
    check("discount", table, UNIT);
    return discount;
  }

  return {
    checkedBeta, checkedDiscount, checkedFeatures, checkedInterest, checkedReward, checkedStart,
    checkedTransition, refuse,
  };
})();
