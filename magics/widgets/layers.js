// Whether the data is there: the layers as a tree, the pages in order as a strip.
// SPDX-License-Identifier: MIT
const PAGES = { p: ["█", "private", "--c0"], f: ["▓", "of a file", "--c3"], s: ["▒", "shared", "--c5"], z: ["0", "page of zeros", "--dim"], w: ["~", "swapped", "--c2"], ".": ["·", "absent", "--dim"] };
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const { root } = begin(el, scene, `${scene.name}: ${scene.state}`, `${size(scene.logical)} logical`, isNumber(scene.resident) ? `${size(scene.resident)} in memory` : "", scene.waits && `waits for ${scene.waits}`);
    if (scene.first) add(root, "div", {}, scene.first);
    const rows = new Rows(root, { label: "layers, from the object to its memory", role: "tree", most: 12,
      draw: (row, layer) => {
        row.setAttribute("aria-level", layer.depth + 1);
        add(row, "span", { class: "dim", style: { width: "10ch" } }, layer.level);
        add(row, "span", { class: "wide", style: { paddingLeft: `${layer.depth * 16}px` } }, layer.depth ? `└ ${layer.what}` : layer.what);
        add(row, "span", { style: { width: "30ch" } }, layer.answers);
      },
      onActive: (layer) => {
        const told = [layer.evidence.join("; ") || "nothing more was looked at"];
        if (layer.would.length) told.push(`would materialize or copy it: ${layer.would.join(", ")}`);
        if (layer.wouldNot.length) told.push(`would not: ${layer.wouldNot.join(", ")}`);
        says.textContent = `${layer.level}: ${layer.what}. ${told.join(". ")}.`;
      } });
    if (scene.strip) strip(root, scene, (words) => { says.textContent = words; });
    for (const found of scene.findings) add(root, "div", { class: found.mild ? "warn" : "danger" }, `${found.slug}: ${found.what}. ${found.do}`);
    const says = sayer(root, "Choose a layer: how its answers are known, and what would materialize it.");
    rows.set(scene.layers);
    if (scene.layersLeftOut) add(root, "div", { class: "dim" }, `${count(scene.layersLeftOut)} more layers were not looked at`);
  },
};
const strip = (root, scene, tell) => {
  const parts = [...scene.strip], each = scene.span / parts.length;
  let at = -1;
  const go = (to) => {
    cells[at]?.classList.remove("active");
    at = Math.max(0, Math.min(parts.length - 1, to));
    cells[at].classList.add("active");
    tell(`part ${at + 1} of ${parts.length}: mostly ${PAGES[parts[at]]?.[1] ?? parts[at]}; bytes +${count(at * each)} to +${count((at + 1) * each)} (${scene.way})`);
  };
  const line = add(root, "div", { class: "pages", tabindex: 0, role: "group", "aria-label": "pages in order",
    onfocus: () => { if (at < 0) go(0); },
    onkeydown: (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 }[event.key];
      if (step === undefined) return;
      event.preventDefault(); event.stopPropagation(); go(at + step);
    } });
  const cells = parts.map((part, number) => {
    const [sign, , paint] = PAGES[part] ?? [part, part, "--dim"];
    return add(line, "span", { style: { color: `var(${paint})` }, onmouseenter: () => go(number) }, sign);
  });
  const present = Object.keys(PAGES).filter((part) => parts.includes(part));
  add(root, "div", { class: "dim" }, present.map((part) => `${PAGES[part][0]} ${PAGES[part][1]} ${size(scene.amounts[part])}`).join("   "));
};
