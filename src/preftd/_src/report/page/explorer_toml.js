// The files of `preftd diagnose`: TOML with names and tables of numbers.

globalThis.preftdExplorer ??= {};

preftdExplorer.toml = (() => {
  "use strict";

  const { InputError } = preftdExplorer;
  const { short } = preftdExplorer.words;
  const TOKEN = /(\s+|#[^\n]*)|[\w+.-]+|[^]/g; // blank or comment, word or number, anything else
  const NUMBER = /^[+-]?(0|[1-9](_?\d)*)(\.\d(_?\d)*)?([eE][+-]?\d(_?\d)*)?$/;
  const NAME = /^[A-Za-z0-9_-]+$/;
  const WIDTH = 80;
  const LONGEST = 50_000; // letters of a text: a chain that can be drawn has fewer
  const DEEPEST = 10; // brackets within brackets

  function tokens(text) {
    const found = [];
    let line = 1;
    for (const [token, blank] of text.matchAll(TOKEN)) {
      if (blank === undefined) found.push({ token, line });
      line += token.split("\n").length - 1;
    }
    found.push({ token: "the end", line });
    return found;
  }

  // The tables in a text, by name: numbers, and arrays of them.
  function read(text) {
    if (text.length > LONGEST) {
      throw new InputError(
        `the chain has ${text.length} letters and the explorer reads at most ${LONGEST}: ` +
          "use preftd diagnose.",
      );
    }
    const all = tokens(text);
    const tables = Object.create(null); // any name is one of its own
    let at = 0;
    let line = 0; // of the last token that was taken
    const next = () => all[at].token;
    const take = () => {
      line = all[at].line;
      return all[at++].token;
    };
    const fail = (remedy) => {
      const { token, line: place } = all[at];
      throw new InputError(`line ${place} has ${short(token)} in the wrong place: ${remedy}.`);
    };

    function value(depth) {
      if (NUMBER.test(next())) return Number(take().replaceAll("_", ""));
      if (next() !== "[") fail("give a number, or numbers in brackets");
      if (depth === DEEPEST) fail(`write at most ${DEEPEST} brackets within each other`);
      take();
      const entries = [];
      while (next() !== "]") {
        entries.push(value(depth + 1));
        if (next() === ",") take();
        else if (next() !== "]") fail("separate entries with commas, and close brackets");
      }
      take();
      return entries;
    }

    while (at < all.length - 1) {
      if (all[at].line === line) fail("begin a new line");
      if (!NAME.test(next())) fail("write lines such as discount = 0.9");
      if (Object.hasOwn(tables, next())) fail("give each table once");
      const name = take();
      if (next() !== "=") fail(`write ${short(name)} = and its numbers`);
      take();
      if (all[at].line !== line) fail("begin the numbers on the line of their name");
      tables[name] = value(0);
    }
    return tables;
  }

  // A number that Python reads as the same float.
  function number(x) {
    return Math.abs(x) >= 1e15 ? x.toExponential() : String(x);
  }

  function inline(value) {
    return Array.isArray(value) ? `[${value.map(inline).join(", ")}]` : number(value);
  }

  // Tables as the text of a file; long ones have a line for each row.
  function write(tables) {
    const lines = Object.entries(tables).map(([name, value]) => {
      const short = `${name} = ${inline(value)}`;
      if (short.length <= WIDTH || !Array.isArray(value[0])) return short;
      return `${name} = [\n${value.map((row) => `  ${inline(row)},\n`).join("")}]`;
    });
    return `${lines.join("\n")}\n`;
  }

  return { read, write };
})();
