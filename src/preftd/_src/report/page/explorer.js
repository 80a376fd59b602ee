// The explorer: what is shown, what the user does, and the state in the address.

globalThis.preftdExplorer ??= {};

preftdExplorer.start = (section) => {
  "use strict";

  const { InputError, PRESETS, chainPicture, drawing, theory, toml, words } = preftdExplorer;
  const { checked } = preftdExplorer.chain;
  const { times } = preftdExplorer.algebra;
  const UPDATES = 2000;
  const STEP_SIZES = [-4, -3, -2, -1, 0].flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)));
  const ICONS = { converges: "✓", diverges: "✗", "does nothing": "–" };
  const FACTS = ["error, all states", "error, β > 0", "positive definite", "largest step size"];
  const find = (selector) => section.querySelector(selector);
  const [note, message, text] = [".ignored", "#explorer-message", "textarea"].map(find);
  const trajectoryBox = find(".trajectory .picture");
  const stepSizes = find(".step-size input");

  let name; // of a preset, or "own"
  let chain;
  let stepSize;
  let picture;
  let widths; // of the pictures, measured when they change, because measuring takes time
  let frame = null;

  // The tables of the chain as it is now, with its β.
  function tables() {
    const { lambda: _, ...rest } = chain.tables;
    return { ...rest, beta: chain.beta };
  }

  function curve(diagnosis, error) {
    const every = UPDATES / 100;
    const start = Array(chain.size).fill(1);
    return theory
      .meanTrajectory(diagnosis, stepSize, UPDATES, start)
      .flatMap((w, t) => (t % every === 0 ? [[t, error(w)]] : []));
  }

  function makeCard(rule) {
    const card = document.createElement("article");
    card.className = drawing.CLASSES[rule];
    card.innerHTML =
      '<div class="words"><h3></h3>' +
      '<p class="outcome"><span aria-hidden="true"></span> <b></b></p>' +
      `<dl>${FACTS.map((fact) => `<dt>${fact}</dt><dd></dd>`).join("")}</dl></div>` +
      '<figure class="eigenvalues"><div></div><figcaption></figcaption></figure>' +
      '<figure class="values"><div></div><figcaption>values of the states</figcaption></figure>' +
      '<p class="reason"></p>';
    card.querySelector("h3").append(drawing.swatch(rule), ` ${rule}`);
    const key = document.createElement("span");
    key.append(drawing.swatch(rule), rule);
    find(".key").append(key);
    find(".cards").append(card);
    return card;
  }

  const cards = Object.keys(drawing.CLASSES).map(makeCard);

  // Change a text only if it is another one: the browser then need not lay out the page again.
  function say(element, said) {
    if (element.textContent !== said) element.textContent = said;
  }

  function fillCard(card, diagnosis, values, limits) {
    const part = (selector) => card.querySelector(selector);
    const verdict = words.verdict(diagnosis);
    const { largestStepSize, preferredError, valueError } = diagnosis;
    const step = !diagnosis.stable ? "none"
      : largestStepSize === Infinity ? "any" : preftdNumberText(largestStepSize);
    card.dataset.verdict = verdict;
    say(part(".outcome span"), ICONS[verdict]);
    say(part(".outcome b"), verdict);
    const facts = [
      words.error(diagnosis, valueError),
      words.error(diagnosis, preferredError),
      words.definite(diagnosis),
      step + (diagnosis.stable && stepSize >= largestStepSize ? ", below α" : ""),
    ];
    card.querySelectorAll("dd").forEach((fact, i) => say(fact, facts[i]));
    const reason = words.reason(diagnosis);
    say(part(".reason"), `${reason[0].toUpperCase()}${reason.slice(1)}`);
    say(part(".eigenvalues figcaption"), words.eigenvalues(diagnosis));
    part(".eigenvalues div").replaceChildren(
      drawing.eigenvaluePlot(diagnosis, widths.eigenvalues));
    part(".values div").replaceChildren(
      drawing.valuePlot(diagnosis, values, chain.values, limits, widths.values));
  }

  function draw() {
    frame = null;
    try {
      drawAll(theory.compare(chain));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      message.textContent = `This chain cannot be drawn: ${error.message}`;
    }
  }

  function drawAll(diagnoses) {
    const values = diagnoses.map(({ fixedPoint: w }) => w && times(chain.features, w));
    const limits = drawing.valueLimits(chain.values, values.flatMap((each) => each ?? []));
    diagnoses.forEach((diagnosis, i) => fillCard(cards[i], diagnosis, values[i], limits));
    const preferred = theory.preferredVisits(chain);
    if (preferred === null) {
      trajectoryBox.textContent = "β is 0 wherever the chain goes, so no state counts: raise a β.";
    } else {
      const error = theory.valueError(chain, preferred);
      const curves = diagnoses.map((d) => ({ rule: d.rule, points: curve(d, error) }));
      trajectoryBox.replaceChildren(
        drawing.trajectoryPlot(curves, UPDATES, widths.trajectory));
    }
    picture.show(chain.beta);
    find(".step-size output").textContent = preftdNumberText(stepSize);
  }

  const refresh = () => (frame ??= requestAnimationFrame(draw));

  function drawChain() {
    const change = (state, beta) => {
      chain = { ...chain, beta: chain.beta.with(state, beta) };
      refresh();
    };
    const wide = (selector, least) => Math.max(find(selector).clientWidth, least);
    widths = {
      eigenvalues: wide(".eigenvalues", 120),
      values: wide(".values", 120),
      trajectory: wide(".trajectory", 240),
    };
    picture = chainPicture(chain, wide(".map", 240), change, settle);
    find(".map .picture").replaceChildren(picture.svg);
    refresh();
  }

  // Write the state into the address and the text, once a movement has ended.
  function settle() {
    const state = new URLSearchParams({ explorer: name });
    if (name === "own") state.set("chain", toml.write(tables()));
    else state.set("beta", chain.beta.join());
    state.set("alpha", stepSize);
    history.replaceState(null, "", `#${state}`);
    text.value = toml.write(tables());
    message.textContent = "";
  }

  // Show a chain; the pictures are drawn in the next frame.
  function show(newName, newChain, newStepSize) {
    [name, chain, stepSize] = [newName, newChain, newStepSize];
    stepSizes.value = STEP_SIZES.indexOf(stepSize);
    for (const button of section.querySelectorAll(".presets button")) {
      button.setAttribute("aria-pressed", button.value === name);
    }
    text.value = toml.write(tables());
    note.hidden = true;
    drawChain();
  }

  function showPreset(preset) {
    show(preset, checked(PRESETS[preset].tables), PRESETS[preset].stepSize);
  }

  // Show what an address holds; throws an InputError if it cannot be shown.
  function restore(state) {
    const wanted = state.get("explorer");
    const step = Number(state.get("alpha"));
    if (!STEP_SIZES.includes(step)) throw new InputError("its step size is not on the slider");
    if (wanted === "own") return show("own", checked(toml.read(state.get("chain") ?? "")), step);
    if (!Object.hasOwn(PRESETS, wanted)) throw new InputError("it names no chain");
    const beta = (state.get("beta") ?? "").split(",").map((x) => (x.trim() ? Number(x) : NaN));
    return show(wanted, checked({ ...PRESETS[wanted].tables, beta }), step);
  }

  function restoreAddress() {
    const state = new URLSearchParams(location.hash.slice(1));
    if (!state.get("explorer")) return false; // a link to the section, or to something else
    try {
      restore(state);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      if (!chain) showPreset("counterexample_1");
      const cause = error.message.replace(/\.$/, "");
      note.textContent = `The address was ignored (${cause}): choose a chain here.`;
      note.hidden = false;
    }
    section.scrollIntoView();
    return true;
  }

  function useText() {
    try {
      const typed = text.value;
      show("own", checked(toml.read(typed)), stepSize);
      settle();
      text.value = typed; // with its comments
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      message.textContent = `${error.message[0].toUpperCase()}${error.message.slice(1)}`;
    }
  }

  async function copyText() {
    try {
      await navigator.clipboard.writeText(toml.write(tables()));
      message.textContent = "Copied: save it as chain.toml, then run preftd diagnose chain.toml.";
    } catch {
      message.textContent = "The browser does not allow copying: select the text and copy it.";
    }
  }

  for (const preset of Object.keys(PRESETS)) {
    const button = document.createElement("button");
    [button.type, button.value] = ["button", preset];
    button.textContent = preset.replace("_", " ");
    button.addEventListener("click", () => {
      showPreset(preset);
      settle();
    });
    find(".presets").append(button);
  }
  Object.assign(stepSizes, { min: 0, max: STEP_SIZES.length - 1, step: 1 });
  stepSizes.addEventListener("input", () => {
    stepSize = STEP_SIZES[stepSizes.value];
    refresh();
  });
  stepSizes.addEventListener("change", settle);
  find(".use").addEventListener("click", useText);
  find(".copy").addEventListener("click", copyText);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) useText();
  });
  addEventListener("hashchange", restoreAddress);
  if (!restoreAddress()) showPreset("counterexample_1");
  let width = section.clientWidth;
  new ResizeObserver(() => {
    if (section.clientWidth === width) return;
    width = section.clientWidth;
    drawChain();
  }).observe(section);
};

preftdExplorer.start(document.getElementById("explorer"));
