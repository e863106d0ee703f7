// Names on the addresses they cover, to scale; choosing one highlights those that share its bytes.
// SPDX-License-Identifier: MIT
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const { root } = begin(el, scene, "memory map", `${many(scene.bars.length, "bar")} in ${many(scene.regions.length, "region")}`,
      `${size(scene.total)} in all, each byte once`, scene.left_out ? `${many(scene.left_out, "name")} more, not drawn` : "");
    const order = [], groups = new Map();
    for (const { group, name } of scene.bars) if (group) groups.get(group)?.push(name) ?? groups.set(group, [name]);
    scene.regions.forEach((region, at) => {
      order.push({ region, at });
      for (const bar of region.bars) order.push({ region, bar: scene.bars[bar] });
    });
    const percent = (part, region) => `${(100 * part) / Math.max(region.bytes, 1)}%`;
    const draw = (row, entry) => {
      if (!entry.bar) {
        row.classList.add("dim");
        add(row, "span", {}, entry.region.start);
        add(row, "span", { class: "wide" }, `${size(entry.region.bytes)} to scale`);
        return;
      }
      const { bar, region } = entry;
      row.setAttribute("aria-label", words(bar));
      row.dataset.group = bar.group;
      add(row, "span", { class: "name", style: { width: "14ch" } }, bar.name);
      add(row, "span", { class: "dim", style: { width: "2ch" } }, letter(bar.group));
      const track = add(row, "span", { class: "track" });
      for (const [from, bytes] of bar.spans) {
        add(track, "span", { class: bar.owns ? "bar" : "bar view",
          style: { left: `min(${percent(from, region)}, 100% - 2px)`, width: percent(bytes, region), "--colour": "" } })
          .style.setProperty("--colour", colour(bar.group));
      }
      add(row, "span", { class: "right", style: { width: "8ch" } }, size(bar.bytes));
      if (lit && bar.group === lit) row.classList.add("lit");
    };
    const words = (bar) => {
      const siblings = (groups.get(bar.group) ?? []).filter((name) => name !== bar.name);
      const more = siblings.length > 8 ? ` and ${siblings.length - 8} more` : "";
      const shared = siblings.length ? `shares bytes with ${siblings.slice(0, 8).join(", ")}${more}` : "shares with nobody";
      return `${bar.name}: ${bar.type}, ${size(bar.bytes)}${bar.state ? `, ${bar.state}` : ""}${bar.shares ? ` ${bar.shares}` : ""}; ${shared}; ${bar.at}`;
    };
    let lit = 0;
    const rows = new Rows(root, { label: "names by address", draw, most: 16, onActive: (entry) => {
      if (!entry.bar) return;
      says.textContent = words(entry.bar);
      if (lit === entry.bar.group) return;
      lit = entry.bar.group;
      rows.box.classList.toggle("chosen", lit > 0);
      for (const row of rows.live.values()) row.classList.toggle("lit", lit > 0 && Number(row.dataset.group) === lit);
    } });
    const says = sayer(root, "Point at a name, or move with the arrow keys: names of one letter share bytes. Solid: owns its bytes. Striped: a view.");
    rows.set(order);
  },
};
