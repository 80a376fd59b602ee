// The picture of a chain: states in a row with arrows, features and a slider for the β of each.

globalThis.preftdExplorer ??= {};

preftdExplorer.chainPicture = (() => {
  "use strict";

  const { element, label, line } = preftdExplorer.drawing;
  const written = preftdNumberText;
  const [MARGIN, TRACK, LINE] = [44, 120, 13];
  const KEYS = {
    ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01,
    PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1,
  };
  const NARROW = 34; // columns narrower than this have smaller numbers
  const MANY_ARROWS = 40; // from this many on, arrows have no labels

  const hundredths = (x) => Math.round(100 * Math.min(Math.max(x, 0), 1)) / 100;
  const rise = (span) => Math.min(12 + 12 * Math.abs(span), 84);

  // The way of an arrow from state s to t, and where its label stands.
  function way(s, t, x, y, radius) {
    if (s === t) {
      const top = y - radius;
      return {
        d: `M${x(s) - 6} ${top + 1}c-14 -27 26 -27 12 -3`,
        at: [x(s), top - 23],
      };
    }
    if (t === s + 1) {
      return { d: `M${x(s) + radius} ${y}H${x(t) - radius - 3}`, at: [(x(s) + x(t)) / 2, y - 4] };
    }
    const side = t > s ? -1 : 1; // forwards above, backwards below
    const [edge, high] = [y + side * radius, y + side * (radius + 2 * rise(t - s))];
    const lean = 5 * Math.sign(t - s);
    return {
      d: `M${x(s) + lean} ${edge}Q${(x(s) + x(t)) / 2} ${high} ${x(t) - lean} ${edge + 3 * side}`,
      at: [(x(s) + x(t)) / 2, (edge + high) / 2 + 4],
    };
  }

  function arrows(chain, x, y, radius) {
    const found = chain.transition.flatMap((row, s) =>
      row.flatMap((p, t) => (p > 0 ? [{ s, t, p, ...way(s, t, x, y, radius) }] : [])));
    const paths = found.map(({ s, t, p, d }) =>
      element("path", {
        d, class: `arrow${chain.discount[s][t] === 0 ? " end" : ""}`,
        "stroke-opacity": 0.2 + 0.8 * p, "marker-end": "url(#explorer-arrow)",
      }, element("title", {},
        `from ${s} to ${t}: ${written(p)}, discount ${written(chain.discount[s][t])}`)));
    const labels = found.length >= MANY_ARROWS ? [] : found.map(({ p, at }) =>
      label(...at, written(p, 2), "probability"));
    return [...paths, ...labels];
  }

  const isHidden = ({ covariance }, s) =>
    covariance !== null && [covariance[s]].flat(2).some((x) => x > 0);

  // A slider that calls change(β) while it moves and done() when it is let go.
  function slider(s, x, top, wide, change, done) {
    const fill = element("rect", { x: x - 3, width: 6, rx: 3, class: "fill" });
    const thumb = element("circle", { cx: x, r: 9, class: "knob" });
    const number = label(x, top + TRACK + 26, "", "beta");
    const handle = element("g", {
      class: "slider", role: "slider", tabindex: 0, "aria-label": `β of state ${s}`,
      "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 1,
    }, [
      element("rect",
        { x: x - wide / 2, y: top - 12, width: wide, height: TRACK + 42, class: "area" }),
      element("rect", { x: x - 3, y: top, width: 6, height: TRACK, rx: 3, class: "track" }),
      fill, thumb, number,
    ]);
    const show = (beta) => {
      const y = top + (1 - beta) * TRACK;
      thumb.setAttribute("cy", y);
      fill.setAttribute("y", y);
      fill.setAttribute("height", top + TRACK - y);
      number.textContent = written(beta, 3);
      handle.setAttribute("aria-valuenow", beta);
    };
    const follow = (event) => {
      const box = handle.ownerSVGElement.getBoundingClientRect();
      change(hundredths(1 - (event.clientY - box.top - top) / TRACK));
    };
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      handle.focus();
      event.preventDefault();
      follow(event);
    });
    // Keep the finger from scrolling the page.
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) follow(event);
    });
    handle.addEventListener("lostpointercapture", done);
    handle.addEventListener("keydown", (event) => {
      if (!Object.hasOwn(KEYS, event.key)) return;
      event.preventDefault();
      change(hundredths(Number(handle.getAttribute("aria-valuenow")) + KEYS[event.key]));
    });
    handle.addEventListener("keyup", (event) => {
      if (Object.hasOwn(KEYS, event.key)) done();
    });
    return { handle, show };
  }

  // Build the picture; `show` moves its sliders. `change(state, β)` is called while one is dragged.
  function chainPicture(chain, width, change, done) {
    const { states, transition, features, size, visits, reward } = chain;
    const step = Math.min((width - MARGIN) / states, 140);
    const radius = Math.min(16, step / 3.2);
    const x = (s) => MARGIN + (s + 0.5) * step;
    const spans = transition.flatMap((row, s) => row.flatMap((p, t) => (p > 0 ? [t - s] : [])));
    const above = Math.max(
      10, ...spans.map((span) => (span > 1 ? rise(span) + 12 : span === 0 ? 34 : 0)));
    const below = Math.max(4, ...spans.map((span) => (span < 0 ? rise(span) + 12 : 0)));
    const y = above + radius;
    const rows = [
      ["φ", y + radius + below + LINE],
      ["d", y + radius + below + (size + 1.4) * LINE],
      ["r", y + radius + below + (size + 2.4) * LINE],
    ];
    const top = rows[2][1] + 30;
    const sliders = features.map((_, s) =>
      slider(s, x(s), top, Math.min(step, 48), (beta) => change(s, beta), done));
    const height = top + TRACK + 34;
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group",
      class: step < NARROW ? "narrow" : "",
      "aria-label": "The chain, with a slider for the preference β of each state" }, [
      element("defs", {}, element("marker", {
        id: "explorer-arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, orient: "auto",
        markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse",
      }, element("path", { d: "M0 0L8 4L0 8Z" }))),
      ...arrows(chain, x, y, radius),
      ...rows.map(([name, at]) => label(10, at, name, "row", "start")),
      label(10, top + TRACK / 2, "β", "row", "start"),
      label(MARGIN - 10, top + 4, "1", "tick", "end"),
      label(MARGIN - 10, top + TRACK + 4, "0", "tick", "end"),
      ...features.flatMap((row, s) => [
        element("circle",
          { cx: x(s), cy: y, r: radius, class: isHidden(chain, s) ? "state hidden" : "state" }),
        label(x(s), y + 4, String(s), "index"),
        ...row.map((entry, i) => label(x(s), rows[0][1] + i * LINE, written(entry, 2), "entry")),
        label(x(s), rows[1][1], written(visits[s], 2), "entry"),
        label(x(s), rows[2][1], written(reward[s], 2), "entry"),
      ]),
      line(MARGIN - 4, rows[1][1] - LINE, MARGIN + states * step, rows[1][1] - LINE, "grid"),
      ...sliders.map(({ handle }) => handle),
    ]);
    return { svg, show: (beta) => beta.forEach((one, s) => sliders[s].show(one)) };
  }

  return chainPicture;
})();
