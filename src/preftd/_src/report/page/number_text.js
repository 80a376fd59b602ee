// Numbers for readers, as style.number_text writes them.

globalThis.preftdNumberText ??= (() => {
  "use strict";

  const RAISED = { "-": "⁻", ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].entries()) };

  // With some significant digits, a minus sign and a raised exponent.
  return (x, digits = 4) => {
    if (Number.isNaN(x)) return "nan";
    const sign = x < 0 ? "−" : "";
    if (!Number.isFinite(x)) return `${sign}∞`;
    const rounded = Number(Math.abs(x).toPrecision(digits));
    const [mantissa, power] = rounded.toExponential().split("e").map(Number);
    if (rounded === 0 || (power >= -4 && power < digits)) return sign + rounded;
    if (power > 0 && power < 9) return sign + rounded.toLocaleString("en");
    const raised = [...String(power)].map((digit) => RAISED[digit]).join("");
    return `${sign}${mantissa === 1 ? "" : `${mantissa} × `}10${raised}`;
  };
})();
