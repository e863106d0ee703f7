// An object in the middle, holders to the left, what it holds to the right. Enter or a click opens a node.
// SPDX-License-Identifier: MIT
export default {
  render({ model, el }) {
    const scene = model.get("scene");
    const { root } = begin(el, scene, `references of ${scene.name}`, scene.type, scene.address);
    add(root, "div", { class: "dim", "aria-label": "path from a root" }, scene.path.length ? `path from a root: ${scene.path.join(" → ")}` : "no path from a root was found");
    const field = add(root, "div", { class: "graph" });
    const says = sayer(root, "Open a node with a click or Enter: the heap is asked as it is then. Arrow keys move between nodes.");
    const FIRST = 6;
    const several = (times) => !(times <= 1);  // shows a count that is not a number too

    const branch = (edge, up) => {
      const whole = add(null, "div", { class: up ? "branch up" : "branch down" });
      const children = add(null, "div", { class: up ? "children up" : "children" });
      const button = add(null, "button", { type: "button", class: `node ${edge.root ? "root" : ""} ${edge.sure ? "" : "unsure"}`, "aria-expanded": edge.root ? undefined : "false" },
        add(null, "span", {}, add(null, "span", { class: "name" }, edge.key || (up ? "" : edge.kind)), ` ${edge.label}`),
        add(null, "span", { class: "dim" }, [edge.sure ? "" : "possible", edge.kind, several(edge.times) ? `×${count(edge.times)}` : "", edge.root ? "ends here" : ""].filter(Boolean).join(" · ")));
      button.title = edge.label;
      button.addEventListener("focus", () => { says.textContent = `${up ? "held by" : "holds"} ${edge.label} ${edge.key}, ${edge.kind}${several(edge.times) ? `, ${count(edge.times)} references` : ""}${edge.sure ? "" : ", possible"}${edge.root ? ", nothing is asked behind it" : ""}; at ${edge.at}`; });
      let opened = false;
      button.addEventListener("click", async () => {
        if (edge.root) return;
        opened = !opened;
        button.setAttribute("aria-expanded", opened);
        children.replaceChildren();
        if (!opened) return;
        says.textContent = "asking";
        const answer = await ask(model, "neighbours", { at: edge.at, up }, 20);
        if (answer.refused) { says.textContent = answer.refused; return; }
        const before = field.scrollWidth;
        fill(children, answer.step, up);
        if (up) field.scrollLeft += field.scrollWidth - before;
        says.textContent = `${edge.label}: ${answer.step.says}`;
      });
      whole.append(...(up ? [children, button] : [button, children]));
      return whole;
    };
    const fill = (children, step, up) => {
      const more = (from) => {
        for (const edge of step.edges.slice(from, from + FIRST)) children.append(branch(edge, up));
        const rest = step.edges.length - from - FIRST;
        if (rest > 0) {
          const button = add(children, "button", { type: "button", class: "more", onclick: () => { button.remove(); more(from + FIRST); } }, `… ${count(rest)} more`);
        } else if (step.left_out) add(children, "span", { class: "dim more" }, `… ${count(step.left_out)} more, not asked`);
      };
      more(0);
      if (!step.edges.length) add(children, "span", { class: "dim more" }, up ? "held by nobody named" : "holds nothing");
    };
    const left = add(field, "div", { class: "children up" });
    add(field, "div", { class: "node subject", tabindex: 0 }, add(null, "span", {}, add(null, "span", { class: "name" }, scene.name), ` ${scene.type}`), add(null, "span", { class: "dim" }, scene.up.says));
    const right = add(field, "div", { class: "children" });
    fill(left, scene.up, true);
    fill(right, scene.down, false);
    field.addEventListener("keydown", (event) => {
      const from = event.target.getBoundingClientRect();
      const side = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!side) return;
      event.preventDefault(); event.stopPropagation();
      let best = null, least = Infinity;
      for (const node of field.querySelectorAll(".node, button")) {
        const to = node.getBoundingClientRect();
        const x = (to.left + to.right - from.left - from.right) / 2, y = (to.top + to.bottom - from.top - from.bottom) / 2;
        const ahead = side[0] * x + side[1] * y, aside = Math.abs(side[0] ? y : x);
        if (node !== event.target && ahead > 4 && ahead + 3 * aside < least) [best, least] = [node, ahead + 3 * aside];
      }
      best?.focus();
    });
  },
};
