// A trace: a timeline of boxes, a folding tree of calls, and the copies.
// SPDX-License-Identifier: MIT
const jump = (site) => {
  const prompt = [...document.querySelectorAll(".jp-InputPrompt")].find((one) => one.textContent.trim() === `[${site.cell}]:`);
  const lines = prompt?.closest(".jp-Cell")?.querySelectorAll(".cm-line");
  if (!isNumber(site.cell) || !lines?.length) return false;
  const line = lines[Math.min(lines.length - 1, site.line - 1 + (lines[0].textContent.startsWith("%%") ? 1 : 0))];
  line.scrollIntoView({ block: "center" });
  line.closest(".cm-content")?.focus({ preventScroll: true });
  window.getSelection().selectAllChildren(line);
  return true;
};
const lanes = (root, model, first, tell) => {
  let seen = first;
  const bar = add(root, "div", { class: "head", role: "toolbar", "aria-label": "timeline" });
  const words = add(null, "span", { class: "dim" });
  const middle = () => (seen.begin + seen.end) / 2, half = () => (seen.end - seen.begin) / 2;
  const moves = {
    "zoom in": () => [middle() - half() / 4, middle() + half() / 4], "zoom out": () => [middle() - half() * 4, middle() + half() * 4],
    earlier: () => [seen.begin - half(), seen.end - half()], later: () => [seen.begin + half(), seen.end + half()], whole: () => [0, seen.whole],
  };
  const go = async (move) => {
    const [begin, end] = moves[move](), wide = Math.min(seen.whole, end - begin);
    const from = Math.max(0, Math.min(begin, seen.whole - wide));
    const answer = await ask(model, "window", { begin: Math.floor(from), end: Math.ceil(from + Math.max(wide, 100)) });
    if (answer.refused) { tell(answer.refused); return; }
    seen = answer.timeline;
    paint();
  };
  for (const move of Object.keys(moves)) add(bar, "button", { type: "button", onclick: () => go(move) }, move);
  bar.append(words);
  const field = add(root, "div", { class: "lanes", tabindex: 0, role: "img", onkeydown: (event) => {
    const move = { "+": "zoom in", "=": "zoom in", "-": "zoom out", ArrowLeft: "earlier", ArrowRight: "later", Home: "whole" }[event.key];
    if (!move) return;
    event.preventDefault(); event.stopPropagation(); go(move);
  } });
  const paint = () => {
    const wide = Math.max(1, seen.end - seen.begin), all = document.createDocumentFragment();
    const deepest = Math.max(0, ...seen.boxes.map((box) => box[2]));
    field.style.height = `${(deepest + 1) * 18 + 2}px`;
    for (const [start, duration, depth, name, times] of seen.boxes) {
      const from = Math.max(0, (start - seen.begin) / wide), to = Math.min(1, (start + duration - seen.begin) / wide);
      const text = `${seen.names[name]}${times > 1 ? ` and ${count(times - 1)} more, too short to tell apart` : ""}, ${time(duration)} at ${time(start)}`;
      add(all, "span", { class: times > 1 ? "box many" : "box", style: { left: `${100 * from}%`, width: `max(2px, ${100 * (to - from)}%)`, top: `${depth * 18}px`, "background-color": "" }, onmouseenter: () => tell(text) },
        to - from > 0.06 ? seen.names[name] : "").style.setProperty("--colour", `var(--c${depth % 6})`);
    }
    field.replaceChildren(all);
    const merged = seen.merged ? `, ${count(seen.merged)} too short to tell apart are in striped boxes` : "";
    const lost = seen.left_out ? `, ${count(seen.left_out)} not drawn` : "", none = seen.untimed ? `, ${count(seen.untimed)} without a clock` : "";
    words.textContent = `${time(seen.begin)} to ${time(seen.end)}: ${count(seen.events)} events in ${count(seen.boxes.length)} boxes${merged}${lost}${none}`;
    field.setAttribute("aria-label", `timeline, ${words.textContent}`);
  };
  paint();
};
const unsent = (number, what) => (number ? `${count(number)} ${what} not here (--all)` : "");
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const { root } = begin(el, scene, "trace", `${count(scene.events)} events, ${count(scene.dropped)} dropped`, time(scene.wall), scene.left_out ? `${count(scene.left_out)} kinds of calls not shown` : "",
      unsent(scene.nodes_left_out, "rows of the tree"), unsent(scene.copies_left_out, "copies"));
    const tell = (words) => { says.textContent = words; };
    if (scene.timeline) lanes(root, model, scene.timeline, tell);
    const pair = add(root, "div", { class: "pair" });
    const left = add(pair, "div", { class: "half" }), right = add(pair, "div", { class: "half" });
    const where = (site) => scene.sites[site] ?? {};

    add(left, "div", { class: "head" }, add(null, "span", { class: "title" }, "calls"), add(null, "span", { class: "dim" }, "← → fold, Enter: to the line"));
    const { depth, label, site, times, ns, kind } = scene.tree;
    const open = new Uint8Array(depth.length);
    const inner = (at) => at + 1 < depth.length && depth[at + 1] > depth[at];
    const visible = () => {
      const order = [];
      for (let at = 0, limit = Infinity; at < depth.length; at += 1) {
        if (depth[at] > limit) continue;
        limit = open[at] ? Infinity : depth[at];
        order.push(at);
      }
      return order;
    };
    const fold = (at, on) => { if (inner(at) && Boolean(open[at]) !== on) { open[at] = on ? 1 : 0; tree.set(visible()); tree.again(); } };
    const to = (number, words) => {
      const place = where(number);
      tell(jump(place) ? `${place.text}: ${words}` : `${place.text || "no Python line is known"}: ${words}`);
    };
    const tree = new Rows(left, { label: "calls", role: "tree", most: 12, draw: (row, at) => {
      row.setAttribute("aria-level", depth[at] + 1);
      if (inner(at)) row.setAttribute("aria-expanded", Boolean(open[at]));
      add(row, "span", { class: "wide", style: { paddingLeft: `${depth[at] * 14}px` } },
        add(null, "span", { class: "fold", onclick: (event) => { event.stopPropagation(); fold(at, !open[at]); } }, inner(at) ? (open[at] ? "▾ " : "▸ ") : "  "),
        add(null, "span", { class: kind[at] === "C" ? "c" : "py" }, kind[at]), ` ${scene.names[label[at]]}`);
      add(row, "span", { class: "right dim", style: { width: "9ch" } }, times[at] > 1 ? `×${count(times[at])}` : "");
      add(row, "span", { class: "right", style: { width: "9ch" } }, ns[at] < 0 ? "" : time(ns[at]));
    }, onActive: (at, moved) => { if (moved) tell(`${scene.names[label[at]]}${times[at] > 1 ? `, ${count(times[at])} times` : ""}${ns[at] < 0 ? "" : `, ${time(ns[at])}`}, ${where(site[at]).text || "no line"}`); },
    onEnter: (at) => to(site[at], scene.names[label[at]]), onSide: (at, deeper) => fold(at, deeper) });
    tree.set(visible());

    let by = "bytes";
    const head = add(right, "div", { class: "head" }, add(null, "span", { class: "title" }, "copies"));
    const keys = { bytes: (a, b) => b.bytes - a.bytes, line: (a, b) => a.site - b.site, times: (a, b) => b.times - a.times };
    const buttons = Object.keys(keys).map((key) => add(head, "button", { type: "button", onclick: () => { by = key; sort(); } }, key));
    const filter = add(head, "input", { type: "search", placeholder: "filter", "aria-label": "filter the copies", size: 10, oninput: () => sort() });
    const copies = new Rows(right, { label: "copies", most: 12, draw: (row, one) => {
      add(row, "span", { class: one.verdict === "copied" ? "warn" : "dim", style: { width: "9ch" } }, one.verdict);
      add(row, "span", { class: "right", style: { width: "8ch" } }, size(one.bytes));
      add(row, "span", { class: "dim", style: { width: "12ch" } }, where(one.site).text);
      add(row, "span", { class: "wide" }, `${one.text}${one.times > 1 ? ` ×${count(one.times)}` : ""}`);
    }, onActive: (one, moved) => { if (moved) tell(`${one.verdict} ${size(one.bytes)}, ${one.from} → ${one.result}: ${one.reason}${one.sure === "certain" ? "" : ` (${one.sure})`}${one.avoid ? `; avoid: ${one.avoid}` : ""}`); },
    onEnter: (one) => { jump(where(one.site)); } });
    const sort = () => {
      buttons.forEach((button) => button.setAttribute("aria-pressed", button.textContent === by));
      const wanted = filter.value.toLowerCase();
      copies.set(scene.copies.filter((one) => `${one.verdict} ${one.text} ${one.from} ${where(one.site).text}`.toLowerCase().includes(wanted)).sort(keys[by]));
      copies.again();
      if (!scene.copies.length) copies.box.replaceChildren(add(null, "div", { class: "dim" }, "no bytes crossed"));
    };
    sort();
    const says = sayer(root, "Point at a box or move in a list; Enter goes to the Python line.");
  },
};
