// Breakpoints: places, a list of hits, and the arguments and mixed stack of the chosen hit.
// SPDX-License-Identifier: MIT
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const { root } = begin(el, scene, "breakpoints", `${many(scene.counted, "hit")} of ${many(scene.places.length, "place")}`,
      `attached in ${time(scene.frozen)}`, `${time(scene.stopped)} at hits`, scene.dropped ? `${count(scene.dropped)} hits counted, not recorded` : "");
    const bar = add(root, "div", { class: "head", role: "toolbar", "aria-label": "places" });
    let place = -1, plumbing = false;
    const buttons = scene.places.map((one, at) => add(bar, "button", { type: "button", title: one.says, onclick: () => { place = place === at ? -1 : at; paint(); } },
      `${one.name}  ${count(one.hits)}${one.says ? ` (${one.says})` : ""}`));
    const inner = add(bar, "button", { type: "button", onclick: () => { plumbing = !plumbing; paint(); show(chosen); } }, "plumbing");
    const rows = new Rows(root, { label: "hits", most: 8, draw: (row, hit) => {
      add(row, "span", { class: "dim right", style: { width: "6ch" } }, `#${hit.number}`);
      add(row, "span", { class: "dim right", style: { width: "9ch" } }, time(hit.at));
      add(row, "span", { class: "name", style: { width: "24ch" } }, scene.places[hit.place]?.name ?? "");
      add(row, "span", { class: "wide" }, hit.arguments.map((one) => `${one.name} = ${one.value}`).join(", "));
    }, onActive: (hit, moved) => { if (moved) show(hit); } });
    const stack = add(root, "div", { class: "stack", "aria-label": "stack of the chosen hit", role: "group", tabindex: 0 });
    const says = sayer(root);
    let chosen = null;
    const show = (hit) => {
      chosen = hit;
      stack.replaceChildren();
      if (!hit) return;
      for (const one of hit.arguments) drawArgument(stack, one);
      drawStack(stack, scene.stacks[hit.stack].map((number) => scene.frames[number]), plumbing);
      says.textContent = `hit ${hit.number}: ${scene.places[hit.place]?.name ?? ""} with ${hit.arguments.map((one) => `${one.name} = ${one.value}`).join(", ") || "no known arguments"}, on thread ${hit.thread}`;
    };
    const paint = () => {
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", at === place));
      inner.setAttribute("aria-pressed", plumbing);
      const found = scene.hits.filter((hit) => place < 0 || hit.place === place);
      rows.set(found);
      if (!found.length) { show(null); says.textContent = "no hit is recorded here"; }
    };
    paint();
    if (scene.hits.length) rows.go(0);
    if (scene.ended) add(root, "div", { class: "warn" }, scene.ended);
  },
};
