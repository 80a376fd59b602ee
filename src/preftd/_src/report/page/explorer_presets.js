// The chains to begin with, and the step size for each: those of examples/*.toml.

globalThis.preftdExplorer ??= {};

preftdExplorer.PRESETS = {
  counterexample_1: {
    stepSize: 0.1,
    tables: {
      transition: [[0.5, 0.5], [0.5, 0.5]], discount: 0.99, features: [[0.5], [1]],
      beta: [0.01, 0.2],
    },
  },
  counterexample_2: {
    stepSize: 0.02,
    tables: {
      transition: [[0, 1], [1, 0]], discount: 0.95, features: [[3, 1], [1, 1]], beta: [1, 0.01],
    },
  },
  noisy_corridor: {
    stepSize: 0.05,
    tables: {
      transition: [
        [0, 0.5, 0, 0.5, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0],
      ],
      discount: [0, 1, 1, 1, 1, 1, 1],
      reward: [0, 0, 0, 0, 0, 2, -1],
      start: [1, 0, 0, 0, 0, 0, 0],
      features: [
        [1, 0, 0], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0, 1, 0],
        [0, 0, 1],
      ],
      covariance: [0, 1, 1, 1, 1, 0, 0],
      beta: [1, 0, 0, 0, 0, 1, 1],
    },
  },
};
