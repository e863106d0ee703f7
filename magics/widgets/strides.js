// Elements and their bytes: moving in the grid shows the step in memory.
// SPDX-License-Identifier: MIT
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const { shape, strides, itemsize } = scene;
    const { root } = begin(el, scene, `strides of ${scene.name}`, `${scene.format} (${shape.join(", ")})`, `strides (${strides.join(", ")})`, scene.words);
    if (scene.elements === 0) { sayer(root, "It has no elements."); return; }
    const low = strides.reduce((sum, step, axis) => sum + Math.min(0, step * (shape[axis] - 1)), 0);
    const bytes = Math.max(scene.bytes, itemsize, 1);
    const at = shape.map(() => 0);
    const [down, across] = shape.length > 1 ? [shape.length - 2, shape.length - 1] : [-1, 0];
    const tall = Math.min(down < 0 ? 1 : shape[down], 10);
    const chars = Math.max(6, count(bytes).length + 3, ...scene.preview.map((text) => text.length + 2));
    const broad = Math.min(shape.length ? shape[across] : 1, Math.max(4, Math.floor(96 / chars)));
    const corner = [0, 0];
    const offset = (index) => index.reduce((sum, one, axis) => sum + one * strides[axis], -low);
    const flat = (index) => index.reduce((sum, one, axis) => sum * shape[axis] + one, 0);
    const indexAt = (row, column) => at.map((one, axis) => (axis === down ? corner[0] + row : axis === across ? corner[1] + column : one));

    if (shape.length > 2) {
      const bar = add(root, "div", { class: "head" });
      shape.slice(0, -2).forEach((length, axis) => {
        const label = add(bar, "label", {}, `axis ${axis} `);
        const inputs = ["range", "number"].map((type) => add(label, "input", { type, min: 0, max: length - 1, value: 0, "aria-label": `axis ${axis}`, style: { width: type === "range" ? "18ch" : "9ch" },
          oninput: (event) => {
            at[axis] = Math.max(0, Math.min(length - 1, Math.round(Number(event.target.value)) || 0));
            inputs.filter((one) => one !== event.target).forEach((one) => { one.value = at[axis]; });
            paint();
          } }));
        add(label, "span", { class: "dim" }, ` of ${count(length)}`);
      });
    }
    const seen = add(root, "div", { class: "dim" });
    const grid = add(root, "div", { role: "grid", tabindex: 0, "aria-label": "elements", class: "elements", style: { gridTemplateColumns: `repeat(${broad}, ${chars}ch)` },
      onkeydown: (event) => {
        const [axis, step] = { ArrowLeft: [across, -1], ArrowRight: [across, 1], ArrowUp: [down, -1], ArrowDown: [down, 1] }[event.key] ?? [];
        if (step === undefined) return;
        event.preventDefault(); event.stopPropagation();
        if (axis >= 0 && shape.length) at[axis] = Math.max(0, Math.min(shape[axis] - 1, at[axis] + step));
        paint();
      } });
    const cells = [];
    for (let row = 0; row < tall; row += 1)
      for (let column = 0; column < broad; column += 1)
        cells.push(add(grid, "div", { role: "gridcell", onmouseenter: () => { indexAt(row, column).forEach((one, axis) => { at[axis] = one; }); paint(false); } }));
    if (scene.base) {
      const { name, shape: whole, corner: from, lit } = scene.base;
      const drawn = lit.length * lit[0].length, shown = lit.flat().filter(Boolean).length;
      const all = drawn === whole.reduce((product, one) => product * one, 1) ? "" : `, drawn from [${whole.length > 1 ? from.join(", ") : from[1]}]`;
      add(root, "div", { class: "dim" }, `the elements of ${name} (${whole.join(", ")}) that it shows${all}:`);
      const board = add(root, "div", { role: "img", class: "base", "aria-label": `${count(shown)} of the ${count(drawn)} elements of ${name} that are drawn`, style: { display: "grid", gridTemplateColumns: `repeat(${lit[0].length}, 11px)`, gap: "1px", overflow: "hidden" } });
      lit.flat().forEach((one) => add(board, "span", { class: one ? "on" : "off", style: { height: "11px", boxSizing: "border-box", border: `1px solid ${one ? "CanvasText" : "var(--line)"}`, background: one ? "var(--c1)" : "none", forcedColorAdjust: "none" } }));
    }
    add(root, "div", { class: "dim" }, `all its ${size(bytes)}, from the lowest byte to the highest:`);
    const ribbon = add(root, "div", { class: "ribbon track", role: "img", "aria-label": "where in its bytes the element lies" });
    const near = add(root, "div", { class: "dim" });
    const line = add(root, "div", { class: "bytes", role: "img", "aria-label": "the 64 bytes around it" });
    const says = sayer(root);
    const mark = (from, style) => add(ribbon, "span", { class: "bar", style: { left: `min(${(100 * from) / bytes}%, 100% - 2px)`, width: `${(100 * itemsize) / bytes}%`, ...style } });
    const paint = (follow = true) => {
      if (follow) [[0, down, tall], [1, across, broad]].forEach(([side, axis, room]) => {
        if (axis < 0 || !shape.length) return;
        corner[side] = Math.min(Math.max(corner[side], at[axis] - room + 1), at[axis], shape[axis] - room);
      });
      const here = offset(at);
      cells.forEach((cell, number) => {
        const index = shape.length ? indexAt(Math.floor(number / broad), number % broad) : [];
        const place = offset(index), value = scene.preview[flat(index)];
        cell.textContent = value ?? `+${count(place)}`;
        cell.title = `[${index.join(", ")}] at +${count(place)}`;
        cell.classList.toggle("dim", value === undefined);
        cell.classList.toggle("active", place === here && index.every((one, axis) => one === at[axis]));
        cell.classList.toggle("same", place === here && index.some((one, axis) => one !== at[axis]));
      });
      const part = (axis, first, room) => (axis < 0 ? "" : `${count(first)} to ${count(first + room - 1)} of ${count(shape[axis])}`);
      seen.textContent = shape.length && (tall < (shape[down] ?? 1) || broad < shape[across])
        ? `seen: ${[part(down, corner[0], tall), part(across, corner[1], broad)].filter(Boolean).join(" by ")}` : "";
      ribbon.replaceChildren();
      for (let column = 0; column < broad && shape.length; column += 1) {
        const index = at.map((one, axis) => (axis === across ? corner[1] + column : one));
        mark(offset(index), { opacity: 0.35 });
      }
      mark(here, {}).style.setProperty("--colour", "var(--c4)");
      const start = Math.floor(here / 64) * 64;
      near.textContent = `bytes +${count(start)} to +${count(start + 63)}:`;
      const used = new Set();
      cells.forEach((_, number) => {
        const from = offset(shape.length ? indexAt(Math.floor(number / broad), number % broad) : []);
        for (let byte = from; byte < from + Math.min(itemsize, 64); byte += 1) used.add(byte);
      });
      line.replaceChildren(...Array.from({ length: 64 }, (_, byte) => {
        const place = start + byte;
        return add(null, "span", { class: place >= here && place < here + itemsize ? "on" : used.has(place) ? "other" : place < bytes ? "" : "out" });
      }));
      const steps = shape.map((_, axis) => (axis === across ? `→ ${strides[axis]} B` : axis === down ? `↓ ${strides[axis]} B` : `axis ${axis} ${strides[axis]} B`)).join(", ");
      const known = scene.preview[flat(at)];
      says.textContent = `[${at.join(", ")}]${known === undefined ? "" : ` = ${known}`}: ${itemsize} bytes at +${count(here)}${scene.start ? ` of ${scene.start}` : ""}. One step: ${steps || "none, a scalar"}.`;
    };
    paint();
  },
};
