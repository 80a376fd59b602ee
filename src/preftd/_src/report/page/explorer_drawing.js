// Small plots in SVG: eigenvalues, values at the fixed point, errors over updates.

globalThis.preftdExplorer ??= {};

preftdExplorer.drawing = (() => {
  "use strict";

  const { eigenvalues: describe } = preftdExplorer.words;
  const written = preftdNumberText;
  const MARKERS = {
    "TD(λ)": "M-4-4H4V4H-4Z",
    ETD: "M0-5L5 4H-5Z",
    PTD: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z",
  };
  const CLASSES = { "TD(λ)": "td", ETD: "etd", PTD: "ptd" };

  // An SVG element; `text` is its text, or its children.
  function element(tag, attributes = {}, text = []) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...[text].flat());
    return made;
  }

  const canvas = (width, height, label, children) =>
    element("svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
      children);
  const line = (x1, y1, x2, y2, style) => element("line", { x1, y1, x2, y2, class: style });
  const label = (x, y, text, style = "", anchor = "middle") =>
    element("text", { x, y, class: style, "text-anchor": anchor }, text);

  // The least of 1, 2, 5, 10, … times a power of ten that is at least x.
  function roundUp(x) {
    const power = 10 ** Math.floor(Math.log10(x));
    return [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= x * (1 - 1e-9));
  }

  // Eigenvalues in the complex plane; the boundary of convergence is the vertical axis.
  function eigenvaluePlot(diagnosis, width) {
    const { rule, eigenvalues } = diagnosis;
    const height = 112;
    const [x0, y0] = [width / 2, height / 2 + 4];
    const reach = Math.max(
      ...eigenvalues.map(([re, im]) => Math.max(Math.abs(re), (Math.abs(im) * x0) / (y0 - 24))));
    const unit = reach > 0 ? roundUp(1.1 * reach) : 1;
    const scale = (x0 - 14) / unit;
    const exact = ([re, im]) =>
      written(re) + (im ? ` ${im < 0 ? "−" : "+"} ${written(Math.abs(im))}i` : "");
    const points = eigenvalues.map(([re, im]) =>
      element("path", {
        d: MARKERS[rule], class: `marker ${CLASSES[rule]}`,
        transform: `translate(${x0 + re * scale} ${y0 - im * scale})`,
      }, element("title", {}, exact([re, im]))));
    return canvas(width, height, `The complex plane with the ${describe(diagnosis)}`, [
      element("rect", { x: 0, y: 14, width: x0, height: height - 14, class: "unstable" }),
      line(0, y0, width, y0, "axis"),
      line(x0, 14, x0, height, "boundary"),
      label(x0 - 5, 10, "diverges ←", "tick", "end"),
      label(x0 + 5, 10, "→ converges", "tick", "start"),
      ...[-1, 1].flatMap((sign) => [
        line(x0 + sign * unit * scale, y0 - 3, x0 + sign * unit * scale, y0 + 3, "axis"),
        label(x0 + sign * (unit * scale - 2), height - 4, written(sign * unit), "tick",
          sign < 0 ? "start" : "end"),
      ]),
      ...points,
    ]);
  }

  // The limits of values: those of the true ones, and of others up to twice as far apart.
  function valueLimits(truth, others) {
    const [low, high] = [Math.min(0, ...truth), Math.max(0, ...truth)];
    const room = high - low || 1;
    const least = Math.max(Math.min(low, ...others), low - room);
    const most = Math.min(Math.max(high, ...others), high + room);
    return most > least ? [least, most] : [-1, 1];
  }

  // The values at the fixed point as bars, the true ones as lines.
  function valuePlot({ rule, stable }, values, truth, [least, most], width) {
    const height = 112;
    const [top, bottom, left] = [10, height - 16, 34];
    const step = (width - left) / truth.length;
    const y = (value) =>
      bottom - ((Math.min(Math.max(value, least), most) - least) / (most - least)) * (bottom - top);
    const bar = values && values.map((value, s) =>
      element("rect", {
        x: left + (s + 0.2) * step, width: 0.6 * step,
        y: Math.min(y(value), y(0)), height: Math.max(Math.abs(y(value) - y(0)), 1),
        class: `predicted ${CLASSES[rule]}${stable ? "" : " hollow"}`,
      }, element("title", {}, `state ${s}: ${written(value)}, true ${written(truth[s])}`)));
    const ticks = [...new Set([least, 0, most])];
    const list = (numbers) => numbers.map((x) => written(x, 3)).join(", ");
    const said = `Values at the fixed point: ${values ? list(values) : "none"}; true: ${list(truth)}`;
    return canvas(width, height, said, [
      ...ticks.map((tick) => label(left - 4, y(tick) + 3.5, written(tick, 2), "tick", "end")),
      line(left, y(0), width, y(0), "axis"),
      ...(bar ?? [label((left + width) / 2, height / 2, "no single fixed point", "tick")]),
      ...truth.map((v, s) =>
        line(left + (s + 0.08) * step, y(v), left + (s + 0.92) * step, y(v), "truth")),
      ...truth.map((_, s) => label(left + (s + 0.5) * step, height - 3, String(s), "tick")),
    ]);
  }

  // Errors over updates on a logarithmic axis: for each rule, points [update, error].
  function trajectoryPlot(curves, steps, width) {
    const height = 200;
    const [top, bottom, left, right] = [8, height - 30, 52, width - 12];
    const first = curves.map(({ points }) => points[0][1]).find((error) => error > 0) ?? 1;
    const middle = Math.round(Math.log10(first));
    const logs = curves.flatMap(({ points }) => points.map(([, error]) => Math.log10(error)));
    const seen = logs.filter((power) => !Number.isNaN(power));
    const least = Math.max(middle - 6, Math.min(middle - 1, Math.floor(Math.min(...seen))));
    const most = Math.min(middle + 4, Math.max(middle + 1, Math.ceil(Math.max(...seen))));
    const x = (t) => left + (t / steps) * (right - left);
    const y = (power) => bottom - ((power - least) / (most - least)) * (bottom - top);
    // Lines may leave the frame, which cuts them off, but not for numbers too large to draw.
    const near = (error) => Math.min(Math.max(Math.log10(error), least - 5), most + 5);
    const paths = curves.map(({ rule, points }) => {
      const drawn = points.filter(([, error]) => !Number.isNaN(error));
      const d = drawn.map(([t, error]) => `${x(t).toFixed(1)} ${y(near(error)).toFixed(1)}`);
      return element("path", { d: `M${d.join("L")}`, class: `curve ${CLASSES[rule]}` });
    });
    const frame = { x: left, y: top, width: right - left, height: bottom - top };
    const view = Object.values(frame).join(" ");
    const every = Array.from({ length: most - least + 1 }, (_, i) => least + i);
    const decades = every.filter((power) => every.length < 6 || power % 2 === 0);
    return canvas(width, height, "Value error over expected updates", [
      ...decades.flatMap((power) => [
        line(left, y(power), right, y(power), "grid"),
        label(left - 6, y(power) + 3.5, written(Number(`1e${power}`)), "tick", "end"),
      ]),
      ...[0, 0.25, 0.5, 0.75, 1].map((share) =>
        label(x(share * steps), bottom + 14, String(share * steps), "tick",
          share === 1 ? "end" : "middle")),
      label((left + right) / 2, height - 3, "updates", "tick"),
      element("svg", { ...frame, viewBox: view, class: "frame" }, paths),
    ]);
  }

  const swatch = (rule) =>
    element("svg", { width: 30, height: 10, "aria-hidden": "true" },
      element("path", { d: "M0 5H30", class: `curve ${CLASSES[rule]}` }));

  return {
    CLASSES, element, eigenvaluePlot, label, line, swatch, trajectoryPlot, valueLimits, valuePlot,
  };
})();
