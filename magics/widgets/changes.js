// What a cell changed: names and types, increases to the right, decreases to the left; sorted and filtered here.
// SPDX-License-Identifier: MIT
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const sign = (value, how) => (isNumber(value) ? `${value > 0 ? "+" : ""}${how(value)}` : String(value));
    const { root } = begin(el, scene, "what the cell changed", `${sign(scene.objects, count)} objects`, sign(scene.bytes, size), `two walks of the heap: ${time(scene.walk)}`);
    const bar = add(root, "div", { class: "head", role: "toolbar", "aria-label": "sort and filter" });
    const table = { names: scene.names, types: scene.types };
    let shown = scene.names.length ? "names" : "types", by = "bytes";
    const buttons = [];
    const choose = (label, is, act) => buttons.push([add(bar, "button", { type: "button", onclick: () => { act(); paint(); } }, label), is]);
    choose(`names ${count(scene.names.length)}`, () => shown === "names", () => { shown = "names"; });
    choose(`types ${count(scene.types.length)}`, () => shown === "types", () => { shown = "types"; });
    add(bar, "span", { class: "dim" }, "sort");
    choose("bytes", () => by === "bytes", () => { by = "bytes"; });
    choose("count", () => by === "count", () => { by = "count"; });
    choose("name", () => by === "name", () => { by = "name"; });
    const filter = add(bar, "input", { type: "search", placeholder: "filter", "aria-label": "filter by name", oninput: () => paint() });
    const rows = new Rows(root, { label: "changes", most: 12, draw: (row, one) => {
      add(row, "span", { style: { width: "9ch" }, class: "dim" }, one.change ?? "");
      add(row, "span", { class: "name", style: { width: "24ch" } }, one.name);
      add(row, "span", { class: "dim", style: { width: "16ch" } }, one.type ?? "");
      add(row, "span", { class: "right", style: { width: "9ch" } }, sign(one.count, count));
      add(row, "span", { class: "right", style: { width: "9ch" } }, sign(one.bytes, size));
      const track = add(row, "span", { class: "track", "aria-hidden": true });
      add(track, "span", { class: "axis" });
      if (isNumber(one.bytes) && one.bytes !== 0) {
        const share = (50 * Math.abs(one.bytes)) / most;
        add(track, "span", { class: one.bytes > 0 ? "bar" : "bar view", style: { left: `${one.bytes > 0 ? 50 : 50 - share}%`, width: `${share}%` } })
          .style.setProperty("--colour", one.bytes > 0 ? "var(--c0)" : "var(--c1)");
      }
    }, onActive: (one) => {
      const unit = shown === "names" ? "references" : "objects";
      says.textContent = `${one.name}${one.type ? `, ${one.type}` : ""}${one.change ? `: ${one.change}` : ""}, ${sign(one.count, count)} ${unit}, ${sign(one.bytes, size)}`;
    } });
    let most = 1;
    const key = { bytes: (one) => -Math.abs(isNumber(one.bytes) ? one.bytes : 0), count: (one) => -Math.abs(isNumber(one.count) ? one.count : 0) };
    const paint = () => {
      for (const [button, is] of buttons) button.setAttribute("aria-pressed", is());
      const wanted = filter.value.toLowerCase();
      const found = table[shown].filter((one) => one.name.toLowerCase().includes(wanted));
      found.sort(by === "name" ? (a, b) => (a.name < b.name ? -1 : 1) : (a, b) => key[by](a) - key[by](b));
      most = Math.max(1, ...table[shown].slice(0, 50000).map((one) => (isNumber(one.bytes) ? Math.abs(one.bytes) : 0)));
      rows.set(found);
      rows.again();
      says.textContent = `${count(found.length)} of ${count(table[shown].length)} ${shown}. Solid, to the right: more; striped, to the left: less.${scene.left_out ? ` ${count(scene.left_out)} small changes are not here.` : ""}`;
    };
    const says = sayer(root);
    paint();
  },
};
