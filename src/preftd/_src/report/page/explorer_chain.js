// A chain from its tables: checked as `preftd diagnose` checks its files, with visits and values.

globalThis.preftdExplorer ??= {};

preftdExplorer.chain = (() => {
  "use strict";

  const { EPSILON, identity, largest, solve, sum } = preftdExplorer.algebra;
  const checks = preftdExplorer.checks;
  const { short } = preftdExplorer.words;
  const { refuse } = checks;

  const NAMES = {
    transition: "n × n probabilities",
    discount: "a number, one per state entered, or n × n",
    features: "n × k",
    beta: "a number or one per state; or lambda",
    lambda: "1 − beta",
    reward: "a number, one per state, or n × n (default: 0)",
    interest: "for ETD: a number or one per state (default: 1)",
    covariance: "of random features: n, n × k or n × k × k (default: not random)",
    start: "probabilities of the first state (default: the stationary distribution)",
  };
  // Whether t can be reached from s, for all s and t.
  function reachable(transition) {
    const reach = transition.map((row, s) => row.map((p, t) => s === t || p > 0));
    for (let k = 0; k < reach.length; k++) {
      for (const row of reach) {
        if (row[k]) row.forEach((_, t) => (row[t] ||= reach[k][t]));
      }
    }
    return reach;
  }

  function checkValuesExist(transition, kept, reach) {
    const leaks = transition.map((row, s) => row.some((p, t) => p > kept[s][t]));
    const stuck = reach.findIndex((row) => !row.some((reached, t) => reached && leaks[t]));
    if (stuck >= 0) {
      refuse(
        `from state ${stuck} the discount is 1 for ever: lower it there, or end episodes by a ` +
          "transition with discount 0.",
      );
    }
  }

  // The states that are visited for ever.
  function recurrentStates(reach) {
    const recurrent = reach.flatMap((row, s) =>
      row.every((reached, t) => !reached || reach[t][s]) ? [s] : []);
    const firsts = recurrent.filter((s, i) => !recurrent.slice(0, i).some((t) => reach[t][s]));
    if (firsts.length > 1) {
      refuse(
        `transition has ${firsts.length} recurrent classes, such as those of states ${firsts[0]} ` +
          `and ${firsts[1]}: the long run depends on the start, so give each class as its own ` +
          "process.",
      );
    }
    return recurrent;
  }

  // Visits in the long run, without a subtraction (Grassmann, Taksar and Heyman's elimination).
  function stationary(transition, recurrent) {
    const visits = Array(transition.length).fill(0);
    if (recurrent.length === 1) {
      visits[recurrent[0]] = 1;
      return visits;
    }
    const moves = recurrent.map((s) => recurrent.map((t) => (s === t ? 0 : transition[s][t])));
    const leave = moves.map(sum);
    const p = moves.map((row, i) => row.map((entry) => entry / leave[i]));
    for (let k = p.length - 1; k > 0; k--) {
      const out = sum(p[k].slice(0, k));
      for (let i = 0; i < k; i++) {
        p[i][k] /= out;
        for (let j = 0; j < k; j++) p[i][j] += p[i][k] * p[k][j];
      }
    }
    const jumps = [1];
    for (let k = 1; k < p.length; k++) jumps.push(sum(jumps.map((entry, i) => entry * p[i][k])));
    const stays = jumps.map((entry, i) => entry / leave[i]);
    recurrent.forEach((s, i) => (visits[s] = stays[i] / sum(stays)));
    return visits;
  }

  // Solve (I − m) x = y for each column of `right`.
  function resolve(m, right) {
    const system = identity(m.length).map((row, i) => row.map((entry, j) => entry - m[i][j]));
    const solution = solve(system, right);
    right[0].forEach((_, j) => {
      const [grown, given] = [solution, right].map((rows) => largest(rows.map((row) => row[j])));
      if (!(EPSILON * grown <= 1e-2 * given)) {
        refuse(
          "the linear system is singular to working precision: lower the discount, or make the " +
            "end of an episode more likely.",
        );
      }
    });
    return solution;
  }

  // Build a chain from tables, or throw an InputError that says what is wrong with them.
  function checked(tables) {
    for (const name of Object.keys(tables)) {
      if (!Object.hasOwn(NAMES, name)) {
        refuse(`there is no table '${short(name)}': known are ${Object.keys(NAMES).join(", ")}.`);
      }
    }
    for (const name of ["transition", "discount", "features"]) {
      if (!(name in tables)) refuse(`${name} is missing: add it (${NAMES[name]}).`);
    }
    const transition = checks.checkedTransition(tables.transition);
    const states = transition.length;
    const reward = checks.checkedReward(tables.reward ?? 0, transition);
    const discount = checks.checkedDiscount(tables.discount, states);
    const kept = transition.map((row, s) => row.map((p, t) => p * discount[s][t]));
    const reach = reachable(transition);
    checkValuesExist(transition, kept, reach);
    if (tables.start !== undefined) checks.checkedStart(tables.start, states);
    const visits = stationary(transition, recurrentStates(reach));
    checks.checkedFeatures(tables, states);
    const beta = checks.checkedBeta(tables, states);
    const interest = checks.checkedInterest(tables.interest ?? 1, states);
    const values = resolve(kept, reward.map((r) => [r])).map(([v]) => v);
    return {
      tables, states, transition, discount, kept, reward, visits, values, beta, interest,
      features: tables.features,
      size: tables.features[0].length,
      covariance: tables.covariance ?? null,
    };
  }

  return { checked, resolve };
})();
