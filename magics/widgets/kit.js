// What all views draw with. Text is inserted as text, never as markup; a list is one tab stop; waits time out.
// SPDX-License-Identifier: MIT
const add = (parent, tag, attributes = {}, ...inside) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") Object.assign(made.style, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  for (const one of inside) made.append(one instanceof Node ? one : String(one));
  parent?.append(made);
  return made;
};

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const count = (value) => (isNumber(value) ? Math.round(value).toLocaleString("en-US") : String(value ?? "?"));
const many = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const size = (value) => {
  if (!isNumber(value)) return String(value ?? "?");
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let power = 0, left = Math.abs(value);
  while (left >= 999.5 && power + 1 < units.length) { left /= 1000; power += 1; }
  const shown = power === 0 ? String(left) : left < 9.95 ? left.toFixed(1) : left.toFixed(0);
  return `${value < 0 ? "-" : ""}${shown} ${units[power]}`;
};
const time = (ns) => {
  if (!isNumber(ns)) return String(ns ?? "?");
  const [unit, of] = ns < 1e3 ? ["ns", 1] : ns < 1e6 ? ["µs", 1e3] : ns < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  return `${(ns / of).toFixed(ns < 1e3 || ns / of >= 99.5 ? 0 : 1)} ${unit}`;
};
const colour = (group) => (group > 0 ? `var(--c${(group - 1) % 6})` : "var(--dim)");
const letter = (group) => {
  let left = group, word = "";
  while (left > 0) { word = String.fromCharCode(65 + ((left - 1) % 26)) + word; left = Math.floor((left - 1) / 26); }
  return word;
};

// The frame of a view: a named group with a heading and the report's first sentence, and a line that screen readers read when it changes.
const begin = (el, scene, label, ...notes) => {
  const root = add(el, "div", { class: "inspector-view", role: "group", "aria-label": label });
  const head = add(root, "div", { class: "head" }, add(null, "span", { class: "title" }, label));
  for (const note of notes) if (note) add(head, "span", { class: "dim" }, note);
  if (scene.sentence) add(root, "div", { class: "sentence" }, scene.sentence);
  return { root, head };
};
const sayer = (root, first = "") => add(root, "div", { class: "says dim", role: "status", "aria-live": "polite" }, first);

// A list that has only its visible rows in the page: 100,000 rows cost as much as 30. Arrow keys move in it.
class Rows {
  constructor(parent, { label, role = "listbox", height = 24, most = 12, draw, onActive, onEnter, onSide }) {
    Object.assign(this, { height, most, draw, onActive, onEnter, onSide, role, active: -1, order: [], id: Math.random().toString(36).slice(2, 9) });
    this.box = add(parent, "div", { class: "rows", role, tabindex: 0, "aria-label": label,
      onscroll: () => this.paint(), onkeydown: (event) => this.key(event),
      onfocus: () => { if (this.active < 0 && this.order.length) this.go(0); } });
    this.space = add(this.box, "div", { role: "presentation" });
    this.live = new Map();
  }
  set(order) {
    this.order = order;
    this.space.style.height = `${order.length * this.height}px`;
    this.box.style.height = `${Math.max(1, Math.min(order.length, this.most)) * this.height + 2}px`;
    this.active = Math.min(this.active, order.length - 1);
    this.again();
  }
  again() { for (const row of this.live.values()) row.remove(); this.live.clear(); this.paint(); }
  paint() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 4);
    const last = Math.min(this.order.length, first + this.most + 9);
    for (const [at, row] of this.live) if (at < first || at >= last) { row.remove(); this.live.delete(at); }
    for (let at = first; at < last; at += 1) if (!this.live.has(at)) this.live.set(at, this.made(at));
    if (this.active >= 0) this.box.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
  }
  made(at) {
    const row = add(this.space, "div", { class: at === this.active ? "row active" : "row", id: `${this.id}-${at}`,
      role: this.role === "tree" ? "treeitem" : "option", "aria-posinset": at + 1, "aria-setsize": this.order.length,
      "aria-selected": at === this.active, style: { top: `${at * this.height}px`, height: `${this.height}px` },
      onclick: () => { this.go(at); this.onEnter?.(this.order[at], at); },
      onmouseenter: () => this.onActive?.(this.order[at], false) });
    this.draw(row, this.order[at], at);
    return row;
  }
  go(at) {
    const to = Math.max(0, Math.min(this.order.length - 1, at));
    if (!this.order.length) return;
    for (const [place, on] of [[this.active, false], [to, true]]) {
      const row = this.live.get(place);
      if (row) { row.classList.toggle("active", on); row.setAttribute("aria-selected", on); }
    }
    this.active = to;
    const top = to * this.height, seen = this.box.clientHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + seen) this.box.scrollTop = top + this.height - seen;
    this.paint();
    this.onActive?.(this.order[to], true);
  }
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.most, PageUp: -this.most, Home: -1e9, End: 1e9 }[event.key];
    if (step !== undefined) this.go(this.active + step);
    else if (event.key === "Enter" || event.key === " ") { if (this.active >= 0) this.onEnter?.(this.order[this.active], this.active); }
    else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && this.onSide && this.active >= 0) this.onSide(this.order[this.active], event.key === "ArrowRight");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// A question to the kernel; where no kernel answers, the view says so and keeps what it shows.
const GONE = "the kernel is busy or gone and does not answer: this is what it last knew";
const ask = (model, what, more = {}, seconds = 5) => new Promise((resolve) => {
  const number = Math.random().toString(36).slice(2, 12);
  const done = (answer) => { clearTimeout(late); model.off("msg:custom", heard); resolve(answer); };
  const heard = (message) => { if (message && message.number === number) done(message); };
  const late = setTimeout(() => done({ refused: GONE }), seconds * 1000);
  model.on("msg:custom", heard);
  try { model.send({ ...more, number, ask: what }); } catch { done({ refused: GONE }); }
});

// A mixed stack, innermost first: native (C) and Python (Py) frames; plumbing is only counted by default.
const drawStack = (parent, frames, plumbing) => {
  let hidden = 0;
  const fold = () => {
    if (hidden) add(parent, "div", { class: "frame dim" }, add(null, "span", {}, "·"), `${many(hidden, "frame")} of plumbing`);
    hidden = 0;
  };
  for (const frame of frames) {
    if (frame.plumbing && !plumbing) { hidden += 1; continue; }
    fold();
    add(parent, "div", { class: "frame" }, add(null, "span", { class: frame.python ? "py" : "c" }, frame.python ? "Py" : "C"),
      add(null, "span", {}, frame.function), add(null, "span", { class: "dim" }, frame.line || frame.library));
  }
  fold();
};
const drawArgument = (parent, one) => add(parent, "div", { class: "frame" }, add(null, "span", { class: "dim" }, one.evidence),
  add(null, "span", { class: "name" }, one.name), add(null, "span", {}, `${one.value}  `), add(null, "span", { class: "dim" }, one.type));
