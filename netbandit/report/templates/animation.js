"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const canvas = element("network"), pen = canvas.getContext("2d");
  // Okabe and Ito's colours, which the colour-blind can tell apart.
  const STATE = ["#0072b2", "#e69f00", "#009e73", "#555555", "#cc79a7", "#f0e442", "#d55e00"], DECIDING = "#56b4e9";
  const KIND = data.kind_colours;
  const agents = data.places.length, count = data.start.length;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();

  // Playing time: each gap between instants at which something happens lasts between MIN and MAX seconds, and an instant
  // at which messages arrive as they are sent lasts a moment, so that they are seen.
  const instants = [...new Set([0, ...data.start, ...data.arrival, ...data.due, data.end])].filter((t) => t <= data.end).sort((a, b) => a - b);
  const sudden = new Set();
  for (let i = 0; i < count; i++) if (data.start[i] === data.arrival[i]) sudden.add(data.start[i]);
  const gaps = instants.slice(1).map((t, i) => t - instants[i]).sort((a, b) => a - b);
  const typical = gaps.length ? gaps[gaps.length >> 1] || 1 : 1;
  const shown = [], simulated = [];
  let clock = 0;
  instants.forEach((time, i) => {
    if (i) clock += 0.2 + 1.3 * (1 - Math.exp(-(time - instants[i - 1]) / typical));
    shown.push(clock); simulated.push(time);
    if (sudden.has(time)) { clock += 0.8; shown.push(clock); simulated.push(time); }
  });
  const length = clock || 1, pace = Math.max(1, length / 90);

  const lower = (list, value) => {  // how many entries are smaller
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle] < value) low = middle + 1; else high = middle; }
    return low;
  };
  const upper = (list, value) => {  // how many entries are not larger
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle] <= value) low = middle + 1; else high = middle; }
    return low;
  };
  const placeOf = (now) => Math.min(Math.max(upper(shown, now) - 1, 0), shown.length - 1);
  const timeAt = (now) => {
    const at = placeOf(now);
    if (at + 1 >= shown.length) return simulated[at];
    const part = (now - shown[at]) / (shown[at + 1] - shown[at] || 1);
    return simulated[at] + part * (simulated[at + 1] - simulated[at]);
  };
  // How far into the moment of sudden messages we are, or null outside of one.
  const moment = (now) => {
    const at = placeOf(now);
    if (at + 1 < shown.length && simulated[at] === simulated[at + 1]) return [simulated[at], (now - shown[at]) / (shown[at + 1] - shown[at])];
    return null;
  };

  let width = 0, height = 0, scale = 1, spots = [], ground = null, onPage = null;
  const radius = () => Math.max(2.5, Math.min(11, 0.32 * Math.min(width, height) / Math.sqrt(agents + 1) / 2));
  function resize() {
    scale = window.devicePixelRatio || 1;
    width = canvas.clientWidth; height = canvas.clientHeight;
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
    const margin = 26, top = data.server ? 56 : margin;
    // True to shape: the same scale both ways, so that a map stays one.
    const points = data.tracks ? data.tracks.flatMap((track) => pairsOf(track)) : data.places;
    const xs = points.map((place) => place[0]), ys = points.map((place) => place[1]);
    const least = (list) => list.reduce((a, b) => Math.min(a, b)), most = (list) => list.reduce((a, b) => Math.max(a, b));
    const [west, east, low, high] = [least(xs), most(xs), least(ys), most(ys)];
    const zoom = Math.min((width - 2 * margin) / (east - west || 1), (height - top - margin) / (high - low || 1));
    const [middle, centre] = [(west + east) / 2, (low + high) / 2];
    onPage = (x, y) => [width / 2 + (x - middle) * zoom, (top + height - margin) / 2 - (y - centre) * zoom];
    spots = data.places.map(([x, y]) => onPage(x, y));
    spots.push([width / 2, 24]);
    ground = document.createElement("canvas");
    ground.width = canvas.width; ground.height = canvas.height;
    const under = ground.getContext("2d");
    under.scale(scale, scale);
    if (!data.tracks) lines(under, data.links, data.up ? 0.35 : 1);
  }

  function lines(under, links, strength) {
    under.strokeStyle = colour("--line"); under.lineWidth = data.links.length > 1000 && !data.up ? 0.4 : 1;
    under.globalAlpha = strength;
    under.beginPath();
    for (const [a, b] of links) { under.moveTo(...spots[a]); under.lineTo(...spots[b]); }
    under.stroke();
    under.globalAlpha = 1;
  }

  // Of an agent that moves: time, place, time, place, ... between which it goes straight.
  const pairsOf = (track) => { const found = []; for (let i = 0; i < track.length; i += 3) found.push([track[i + 1], track[i + 2]]); return found; };
  function placeAt(track, time) {
    let low = 0, high = track.length / 3;  // the first point after this time
    while (low < high) { const middle = (low + high) >> 1; if (track[3 * middle] <= time) low = middle + 1; else high = middle; }
    const before = 3 * Math.max(low - 1, 0), after = 3 * Math.min(low, track.length / 3 - 1);
    const part = track[after] > track[before] ? Math.max(0, (time - track[before]) / (track[after] - track[before])) : 0;
    return onPage(track[before + 1] + part * (track[after + 1] - track[before + 1]), track[before + 2] + part * (track[after + 2] - track[before + 2]));
  }
  function drawLinks(time) {
    if (data.tracks) data.tracks.forEach((track, agent) => { spots[agent] = placeAt(track, time); });
    const there = data.links.filter((_, i) => upper(data.up[i], time) % 2 === 1);
    if (data.tracks && data.links.length <= 300) lines(pen, data.links, 0.25);
    pen.strokeStyle = colour("--ink"); pen.lineWidth = 1.4;
    pen.beginPath();
    for (const [a, b] of there) { pen.moveTo(...spots[a]); pen.lineTo(...spots[b]); }
    pen.stroke();
    return there.length;
  }

  function stateOf(agent, time) {
    const track = data.phases[agent];
    for (let i = 0; i < track.length; i += 3) if (track[i] <= time && time < track[i + 1]) return track[i + 2];
    return -1;
  }

  // Who computes has a ring.
  function computes(node, time) {
    if (!data.jobs.length) return false;
    const [begins, ends] = data.jobs[node], at = upper(begins, time) - 1;
    return at >= 0 && time < ends[at];
  }

  function draw(now) {
    const time = timeAt(now), sudden = moment(now);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(ground, 0, 0);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const there = data.up ? drawLinks(time) : 0;
    const until = upper(data.start, time), large = radius(), small = Math.max(2.5, Math.min(5, large * 0.6));
    let flying = 0;
    pen.lineWidth = 0.5; pen.strokeStyle = colour("--ink");
    for (let i = 0; i < until; i++) {
      let part;
      if (data.start[i] === data.arrival[i]) {
        if (!sudden || sudden[0] !== data.start[i]) continue;
        part = sudden[1];
      } else {
        if (data.arrival[i] <= time) continue;
        part = (time - data.start[i]) / (data.arrival[i] - data.start[i]);
      }
      flying++;
      const [x, y] = spots[data.sender[i]], [u, v] = spots[data.receiver[i]];
      pen.fillStyle = KIND[data.kind[i] % KIND.length];
      const box = [x + (u - x) * part - small / 2, y + (v - y) * part - small / 2, small, small];
      pen.fillRect(...box); pen.strokeRect(...box);
    }
    const doing = new Array(STATE.length + 1).fill(0), named = [];
    let computing = 0;
    for (let agent = 0; agent < agents; agent++) {
      const state = stateOf(agent, time);
      doing[state < 0 ? STATE.length : state]++;
      pen.beginPath(); pen.arc(spots[agent][0], spots[agent][1], large, 0, 2 * Math.PI);
      pen.fillStyle = state >= 0 ? STATE[state] : data.in_slots ? DECIDING : colour("--paper"); pen.fill();
      pen.lineWidth = 1; pen.strokeStyle = colour("--ink"); pen.stroke();
      if (computes(agent, time)) {
        computing++;
        pen.beginPath(); pen.arc(spots[agent][0], spots[agent][1], large + 3, 0, 2 * Math.PI); pen.lineWidth = 2; pen.stroke();
      }
    }
    if (agents <= 60) for (let agent = 0; agent < agents; agent++) name(agent, large, named);
    if (data.server) {
      const [x, y] = spots[agents];
      pen.fillStyle = colour("--ink"); pen.fillRect(x - 9, y - 9, 18, 18); label("server", x, y + 22);
      if (computes(agents, time)) { computing++; pen.lineWidth = 2; pen.strokeStyle = colour("--ink"); pen.strokeRect(x - 13, y - 13, 26, 26); }
    }
    report(time, until, flying, doing, there, computing);
  }
  // Below its agent, or above, or at a side; nowhere if it would cover another agent or name.
  function name(agent, large, named) {
    const [x, y] = spots[agent], text = data.names[agent];
    pen.font = "11px system-ui, sans-serif";
    const half = pen.measureText(text).width / 2 + 1, beside = large + half + 3;
    for (const [u, v] of [[x, y + large + 11], [x, y - large - 4], [x + beside, y + 4], [x - beside, y + 4]]) {
      const box = [u - half, v - 9, u + half, v + 2];
      const free = named.every((other) => box[2] < other[0] || other[2] < box[0] || box[3] < other[1] || other[3] < box[1])
        && spots.every(([a, b], other) => other === agent || other >= agents || a + large < box[0] || box[2] < a - large || b + large < box[1] || box[3] < b - large);
      if (free) { named.push(box); label(text, u, v); return; }
    }
  }
  function label(text, x, y) {
    pen.fillStyle = colour("--ink"); pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center"; pen.fillText(text, x, y);
  }

  const whole = new Intl.NumberFormat("en");
  const duration = (ns) => ns >= 1e9 ? `${(ns / 1e9).toFixed(3)} s` : ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e3).toFixed(3)} µs`;
  const cells = {};
  function row(table, name, key, swatch) {
    const line = element(table).tBodies[0].insertRow();
    const head = line.insertCell(); const value = line.insertCell(); value.className = "number";
    if (swatch) { const mark = document.createElement("span"); mark.className = swatch[1]; mark.style.background = swatch[0]; head.append(mark); }
    head.append(name); cells[key] = value;
  }
  row("ledger", "messages", "messages"); row("ledger", "bytes", "bytes"); row("ledger", "activations", "activations"); row("ledger", "under way", "flying");
  if (data.pulled.length) row("ledger", "rewards awaited", "awaited");
  if (data.jobs.length) row("ledger", "nodes that compute", "computing");
  if (data.up) row("ledger", "links up", "there");
  const told = i => i < 5 || data.phases.some(track => track.some((state, place) => place % 3 === 2 && state >= 5));
  ["explore", "wait for a round", "exploit", "down", "wait for rewards", "have answered", "have answered wrongly"].forEach((name, i) => { if (told(i)) row("agents", name, `state${i}`, [STATE[i], "swatch"]); });
  row("agents", data.in_slots ? "decide in every slot" : "not told", `state${STATE.length}`, data.in_slots ? [DECIDING, "swatch"] : null);
  data.kinds.forEach((name, i) => row("kinds", name, `kind${i}`, [KIND[i % KIND.length], "swatch square"]));
  const byKind = data.kinds.map(() => []);
  data.kind.forEach((kind, i) => byKind[kind].push(data.start[i]));

  function report(time, until, flying, doing, there, computing) {
    element("clock").textContent = `${duration(time)}, slot ${whole.format(Math.floor(time / data.slot))}`;
    const put = (key, value) => { const text = whole.format(value); if (cells[key].textContent !== text) cells[key].textContent = text; };
    put("messages", until); put("bytes", until ? data.bytes[until - 1] : 0); put("activations", until ? data.activations[until - 1] : 0); put("flying", flying);
    if (data.pulled.length) put("awaited", upper(data.pulled, time) - upper(data.due, time));
    if (data.jobs.length) put("computing", computing);
    if (data.up) put("there", there);
    doing.forEach((value, i) => { if (cells[`state${i}`]) put(`state${i}`, value); });
    byKind.forEach((starts, i) => put(`kind${i}`, upper(starts, time)));
  }

  const curve = element("regret"), [slots, values] = data.regret.length ? data.regret : [[], []];
  if (slots.length < 2) element("below").remove();
  function drawRegret(time) {
    if (slots.length < 2) return;
    const ink = curve.getContext("2d"), wide = curve.clientWidth, high = curve.clientHeight;
    curve.width = Math.round(wide * scale); curve.height = Math.round(high * scale);
    ink.setTransform(scale, 0, 0, scale, 0, 0);
    const last = slots[slots.length - 1], least = Math.min(0, ...values), most = Math.max(...values, least + 1e-9);
    const left = 8, right = wide - 8, top = 20, bottom = high - 6;
    const across = (slot) => left + (right - left) * slot / last, upward = (value) => bottom - (bottom - top) * (value - least) / (most - least);
    const here = Math.min(time / data.slot, last), after = Math.min(upper(slots, here), slots.length - 1), first = Math.max(after - 1, 0);
    const part = slots[after] > slots[first] ? Math.min(1, (here - slots[first]) / (slots[after] - slots[first])) : 0;
    const value = values[first] + part * (values[after] - values[first]);
    ink.strokeStyle = colour("--line"); ink.lineWidth = 1;
    ink.beginPath(); ink.moveTo(left, bottom); ink.lineTo(right, bottom); ink.stroke();
    const line = (until) => { ink.beginPath(); slots.forEach((slot, i) => { if (slot <= until) ink.lineTo(across(slot), upward(values[i])); }); };
    line(last); ink.stroke();
    line(here); ink.lineTo(across(here), upward(value)); ink.strokeStyle = colour("--accent"); ink.lineWidth = 2; ink.stroke();
    ink.beginPath(); ink.moveTo(across(here), top); ink.lineTo(across(here), bottom); ink.lineWidth = 1; ink.stroke();
    ink.fillStyle = colour("--ink"); ink.font = "12px system-ui, sans-serif"; ink.textAlign = "left";
    ink.fillText(`regret of all agents until now: ${whole.format(Number(value.toPrecision(4)))}`, left, 13);
  }

  let now = 0, playing = false, before = 0;
  const scrubber = element("scrubber"), button = element("play");
  scrubber.max = String(length);
  function show() { scrubber.value = String(now); draw(now); drawRegret(timeAt(now)); }
  function tick(stamp) {
    if (!playing) return;
    now += Math.min(0.1, (stamp - before) / 1000) * pace * Number(element("speed").value);
    before = stamp;
    if (now >= length) { now = length; toggle(false); }
    show();
    if (playing) requestAnimationFrame(tick);
  }
  function toggle(on) {
    playing = on; button.textContent = on ? "Pause" : "Play";
    if (on) { if (now >= length) now = 0; before = performance.now(); requestAnimationFrame(tick); }
  }
  function step(by) {
    toggle(false);
    const at = by > 0 ? upper(shown, now + 1e-9) : lower(shown, now - 1e-9) - 1;
    now = shown[Math.min(Math.max(at, 0), shown.length - 1)];
    show();
  }
  button.addEventListener("click", () => toggle(!playing));
  element("back").addEventListener("click", () => step(-1));
  element("forward").addEventListener("click", () => step(1));
  scrubber.addEventListener("input", () => { toggle(false); now = Number(scrubber.value); show(); });
  document.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT" || event.target.tagName === "BUTTON") return;
    if (event.key === " ") { event.preventDefault(); toggle(!playing); }
    if (event.key === "ArrowRight") step(1);
    if (event.key === "ArrowLeft") step(-1);
  });
  window.addEventListener("resize", () => { resize(); show(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { resize(); show(); });
  element("parameters").textContent = Object.entries(data.parameters).map(([key, value]) => `${key} = ${value}`).join(", ");
  if (data.left) element("left").textContent = `The trace goes on for ${whole.format(data.left)} more messages, which are left out here.`;
  resize(); show();
  window.netbandit = { length, seek: (value) => { now = value; show(); }, draw };  // for tests
})();
