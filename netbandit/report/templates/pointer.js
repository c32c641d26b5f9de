// The curves of regret say their values under the pointer, or, with the arrow keys, step by step.
(() => {
  "use strict";
  const MOST = 10;
  const STEPS = 50;
  document.documentElement.classList.add("scripted");
  const bent = (value, logarithmic) => (logarithmic ? Math.log(value) : value);
  const number = (value) =>
    value.toLocaleString("en", Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });

  // Where a value stands between the ends of an axis, 0 to 1; and the value at such a place.
  const share = (value, [low, high], logarithmic) =>
    (bent(value, logarithmic) - bent(low, logarithmic)) / (bent(high, logarithmic) - bent(low, logarithmic));
  const at = (place, [low, high], logarithmic) =>
    logarithmic ? low * Math.exp(place * Math.log(high / low)) : low + place * (high - low);

  function between(slots, values, slot) {
    let right = slots.findIndex((knot) => knot >= slot);
    if (right === -1) return null;
    if (right === 0) return slots[0] <= slot ? values[0] : null;
    const part = (slot - slots[right - 1]) / (slots[right] - slots[right - 1]);
    return values[right - 1] + part * (values[right] - values[right - 1]);
  }

  function element(name, parent) {
    const made = document.createElement("div");
    made.className = name;
    made.hidden = true;
    parent.append(made);
    return made;
  }

  function watch(figure) {
    const panels = JSON.parse(figure.querySelector(".reading").textContent);
    const drawing = figure.querySelector(".drawing");
    const scroll = figure.querySelector(".scroll");
    const rule = element("pointer", drawing);
    const values = element("values", figure);
    values.setAttribute("aria-live", "polite");
    let dots = [];
    let kept = null;

    function hide() {
      for (const made of [rule, values, ...dots]) made.hidden = true;
    }

    // Show the values of a panel at a place between 0 and 1 along its axis. The pointer is at the height `level`; without
    // one nobody sees in which panel, so its title is said.
    function show(panel, place, level) {
      kept = [panel, place];
      const { title, box, x, y, logarithmic, lines } = panels[panel];
      const slot = Math.round(at(place, x, logarithmic[0]));
      const found = lines
        .map((line) => ({
          ...line,
          value: between(line.slots, line.mean, slot),
          half: line.half && between(line.slots, line.half, slot),
        }))
        .filter((line) => line.value !== null);
      const { width, height } = drawing.getBoundingClientRect();
      const left = width * (box[0] + place * (box[2] - box[0]));
      const top = (value) => height * (box[3] - share(value, y, logarithmic[1]) * (box[3] - box[1]));
      const shown = [...found]
        .sort((one, other) => (level === null ? 0 : Math.abs(top(one.value) - level) - Math.abs(top(other.value) - level)))
        .slice(0, MOST)
        .sort((one, other) => other.value - one.value);

      Object.assign(rule.style, { left: `${left}px`, top: `${height * box[1]}px`, bottom: `${height * (1 - box[3])}px` });
      for (const dot of dots) dot.remove();
      dots = shown.map((line) => {
        const dot = element("dot swatch", drawing);
        const below = Math.min(Math.max(top(line.value), height * box[1]), height * box[3]);
        Object.assign(dot.style, { left: `${left}px`, top: `${below}px`, background: line.colour });
        dot.hidden = false;
        return dot;
      });

      values.replaceChildren();
      const heading = document.createElement("p");
      heading.textContent = `${title && level === null ? `${title}, ` : ""}slot ${number(slot)}`;
      values.append(heading);
      for (const line of shown) {
        const entry = document.createElement("p");
        const swatch = document.createElement("span");
        swatch.className = "swatch";
        swatch.style.background = line.colour;
        const half = line.half === null ? "" : ` ± ${number(line.half)}`;
        entry.append(swatch, `${line.label ? `${line.label}: ` : ""}${number(line.value)}${half}`);
        values.append(entry);
      }
      if (shown.length < found.length) {
        const rest = document.createElement("p");
        rest.textContent = `and ${found.length - shown.length} more`;
        values.append(rest);
      }
      rule.hidden = values.hidden = false;

      // Beside the rule, on the side with more room, and never beyond the figure.
      const inside = left - scroll.scrollLeft;
      const room = figure.clientWidth;
      const wide = values.offsetWidth;
      const beside = inside < room / 2 ? inside + 12 : inside - 12 - wide;
      values.style.left = `${Math.max(0, Math.min(beside, room - wide))}px`;
      values.style.top = `${height * box[1] + 8}px`;
    }

    function follow(event) {
      const { left, top, width, height } = drawing.getBoundingClientRect();
      const [across, down] = [(event.clientX - left) / width, (event.clientY - top) / height];
      const panel = panels.findIndex(
        ({ box }) => across >= box[0] && across <= box[2] && down >= box[1] && down <= box[3],
      );
      if (panel === -1) hide();
      else show(panel, (across - panels[panel].box[0]) / (panels[panel].box[2] - panels[panel].box[0]), event.clientY - top);
    }

    function step(event) {
      if (event.key === "Escape") return hide();
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const next = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const end = { Home: 0, End: 1 }[event.key];
      if (by === undefined && next === undefined && end === undefined) return;
      event.preventDefault();
      const [panel, place] = kept ?? [0, 0.5];
      const other = (panel + (next ?? 0) + panels.length) % panels.length;
      show(other, end ?? Math.min(1, Math.max(0, Math.round(place * STEPS + (by ?? 0)) / STEPS)), null);
    }

    drawing.addEventListener("pointermove", follow);
    drawing.addEventListener("pointerdown", follow);
    drawing.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    scroll.addEventListener("scroll", hide);
    scroll.addEventListener("keydown", step);
    scroll.addEventListener("blur", hide);
  }

  document.querySelectorAll("figure.readable").forEach(watch);
})();
