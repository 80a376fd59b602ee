"use strict";
// Values on hover and by arrow keys, methods switched in all figures, figures enlarged, tables
// sorted and filtered.
(() => {
  const numbers = JSON.parse(document.getElementById("numbers").textContent);
  const tip = document.getElementById("tip");
  const off = new Set();
  const REACH = 40; // how far from a point it is still meant, in units of the figure
  const SVG = "http://www.w3.org/2000/svg";

  const text = preftdNumberText;

  function told(line, i) {
    const lines = [line.label.startsWith(line.method) ? line.label : `${line.method}: ${line.label}`];
    const value = line.centre[i] === null ? "" : text(line.centre[i]);
    const known = line.low[i] !== null && line.high[i] !== null;
    const interval = known ? ` [${text(line.low[i])}, ${text(line.high[i])}]` : "";
    const where = line.across ? `${line.across} ${text(line.x[i])}: ` : "";
    lines.push(where + value + interval);
    const size = line.step_sizes.length > 1 ? line.step_sizes[i] : line.step_sizes[0];
    if (size && line.across !== "step size") lines.push(`step size ${size}`);
    return lines.join("\n");
  }

  function visible(plot) {
    return (numbers[plot.dataset.plot] || []).filter((line) => !off.has(line.method));
  }

  function show(plot, line, i) {
    const svg = plot.querySelector("svg");
    let mark = svg.querySelector(".mark");
    if (!mark) {
      mark = document.createElementNS(SVG, "circle");
      mark.setAttribute("class", "mark");
      mark.setAttribute("r", 4);
      svg.append(mark);
    }
    const [x, y] = line.at[i];
    mark.setAttribute("cx", x);
    mark.setAttribute("cy", y);
    const spot = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    (plot.closest("dialog") || document.body).append(tip); // above the dialog, too
    tip.textContent = told(line, i);
    tip.classList.add("shown");
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, spot.x + 14), innerWidth - width - 8);
    const above = spot.y - height - 14;
    tip.style.transform = `translate(${left}px, ${above > 8 ? above : spot.y + 18}px)`;
  }

  function hide(plot) {
    tip.classList.remove("shown");
    const mark = plot.querySelector(".mark");
    if (mark) mark.remove();
  }

  function nearest(plot, event) {
    const matrix = plot.querySelector("svg").getScreenCTM().inverse();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    let best = null;
    for (const line of visible(plot)) {
      line.at.forEach(([x, y], i) => {
        const far = Math.hypot(x - at.x, y - at.y);
        if (far < REACH && (!best || far < best.far)) best = { far, line, i };
      });
    }
    return best;
  }

  for (const plot of document.querySelectorAll(".plot")) {
    let line = 0;
    let i = 0;
    plot.addEventListener("pointermove", (event) => {
      const found = nearest(plot, event);
      if (found) show(plot, found.line, found.i);
      else hide(plot);
    });
    plot.addEventListener("pointerleave", () => hide(plot));
    plot.addEventListener("blur", () => hide(plot));
    plot.addEventListener("keydown", (event) => {
      const lines = visible(plot);
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
      if (event.key === "Escape") hide(plot);
      if (!(event.key in step) || !lines.length) return;
      event.preventDefault();
      const [down, along] = step[event.key];
      line = Math.min(Math.max(0, line + down), lines.length - 1);
      i = Math.min(Math.max(0, i + along), lines[line].at.length - 1);
      show(plot, lines[line], i);
    });
  }

  // Methods.
  const switches = [...document.querySelectorAll("[data-switch]")];
  function apply() {
    off.clear();
    for (const box of switches) if (!box.checked) off.add(box.value);
    for (const part of document.querySelectorAll("[data-method]")) {
      part.classList.toggle("off", off.has(part.dataset.method));
    }
    const count = document.getElementById("shown-methods");
    if (count) count.textContent = `${switches.length - off.size} of ${switches.length}`;
  }
  for (const box of switches) box.addEventListener("change", apply);
  const menu = document.querySelector(".methods");
  if (menu) {
    if (switches.some((box) => !box.checked)) apply(); // a reloaded page remembers its boxes
    document.addEventListener("click", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape") menu.open = false;
    });
  }

  // Enlarged figures: the figure itself moves into the dialog, and back.
  const dialog = document.getElementById("enlarged");
  const slot = dialog.querySelector(".slot");
  let home = null;
  for (const button of document.querySelectorAll("[data-enlarge]")) {
    button.addEventListener("click", () => {
      const plot = document.querySelector(`[data-plot="${button.dataset.enlarge}"]`);
      home = { figure: plot.parentNode, button };
      slot.append(plot);
      dialog.showModal();
      plot.focus();
    });
  }
  dialog.addEventListener("close", () => {
    const plot = slot.firstElementChild;
    hide(plot);
    document.body.append(tip);
    home.figure.prepend(plot);
    home.button.focus();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  // A link to what is folded unfolds it.
  function unfold() {
    const aim = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let part = aim; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (aim) aim.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();

  // Tables.
  const key = (cell) => cell.dataset.value ?? cell.textContent.trim();
  function compare(a, b) {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    const both = !Number.isNaN(x) && !Number.isNaN(y);
    return both ? x - y : a.localeCompare(b, "en", { numeric: true });
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((a, b) => compare(key(a.cells[column]), key(b.cells[column])));
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  }
  const words = document.getElementById("words");
  if (words) {
    const verdict = document.getElementById("verdict");
    const filter = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const table of document.querySelectorAll("table.claims")) {
        let count = 0;
        for (const row of table.tBodies[0].rows) {
          const said = row.textContent.toLowerCase();
          const fits = wanted.every((word) => said.includes(word));
          row.hidden = !fits || (verdict.value && row.dataset.verdict !== verdict.value);
          count += !row.hidden;
        }
        table.querySelector("caption .count").textContent = `${count} of ${table.tBodies[0].rows.length}`;
      }
    };
    words.addEventListener("input", filter);
    verdict.addEventListener("change", filter);
    // A link to a claim that is filtered away shows it.
    addEventListener("hashchange", () => {
      const row = document.getElementById(location.hash.slice(1));
      if (row && row.hidden) {
        words.value = verdict.value = "";
        filter();
        row.scrollIntoView();
      }
    });
  }

  // On paper everything is open, but lists of claims, which stand in the tables at the end.
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("main details:not(.related, .finding details)")) {
      part.open = true;
    }
  });
})();
