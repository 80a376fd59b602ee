// The files of `preftd diagnose`: TOML with names and tables of numbers.

globalThis.preftdExplorer ??= {};

preftdExplorer.toml = (() => {
  "use strict";

  const { InputError } = preftdExplorer;
  const TOKEN = /(\s+|#[^\n]*)|[\w+.-]+|[^]/g; // blank or comment, word or number, anything else
  const NUMBER = /^[+-]?(0|[1-9](_?\d)*)(\.\d(_?\d)*)?([eE][+-]?\d(_?\d)*)?$/;
  const NAME = /^[A-Za-z0-9_-]+$/;
  const WIDTH = 80;

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
    const rest = tokens(text);
    const tables = {};
    let line = 0; // of the last token that was taken
    const take = () => {
      line = rest[0].line;
      return rest.shift().token;
    };
    const fail = (remedy) => {
      const { token, line: place } = rest[0];
      throw new InputError(`line ${place} has ${token} in the wrong place: ${remedy}.`);
    };

    function value() {
      if (NUMBER.test(rest[0].token)) return Number(take().replaceAll("_", ""));
      if (rest[0].token !== "[") fail("give a number, or numbers in brackets");
      take();
      const entries = [];
      while (rest[0].token !== "]") {
        entries.push(value());
        if (rest[0].token === ",") take();
        else if (rest[0].token !== "]") fail("separate entries with commas, and close brackets");
      }
      take();
      return entries;
    }

    while (rest.length > 1) {
      if (rest[0].line === line) fail("begin a new line");
      if (!NAME.test(rest[0].token)) fail("write lines such as discount = 0.9");
      if (Object.hasOwn(tables, rest[0].token)) fail("give each table once");
      const name = take();
      if (rest[0].token !== "=") fail(`write ${name} = and its numbers`);
      take();
      if (rest[0].line !== line) fail("begin the numbers on the line of their name");
      tables[name] = value();
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
