// A stopped child: its place, variables and mixed stack, and buttons that step it.
// SPDX-License-Identifier: MIT
export default {
  render({ model, el }) {
    const { root, head } = begin(el, model.get("scene"), "stopped child");
    const where = add(head, "span", { class: "name" });
    const reason = add(head, "span", { class: "warn" });
    const bar = add(root, "div", { class: "head", role: "toolbar", "aria-label": "steps" });
    let busy = false, plumbing = false;
    const buttons = model.get("scene").words.map(({ word, says }) =>
      add(bar, "button", { type: "button", title: says, onclick: () => step(word) }, word));
    const inner = add(bar, "button", { type: "button", onclick: () => { plumbing = !plumbing; paint(); } }, "plumbing");
    const stack = add(root, "div", { class: "stack", "aria-label": "variables and stack", role: "group", tabindex: 0 });
    const says = sayer(root);
    const paint = () => {
      const scene = model.get("scene");
      where.textContent = `${scene.function}  ${scene.line}`;
      reason.textContent = scene.ended ? "ended" : scene.reason;
      for (const button of buttons) button.disabled = busy || Boolean(scene.ended);
      inner.setAttribute("aria-pressed", plumbing);
      stack.replaceChildren();
      for (const one of scene.variables) drawArgument(stack, one);
      drawStack(stack, scene.frames, plumbing);
      says.textContent = busy ? "stepping" : scene.ended || `${scene.reason} in ${scene.function} ${scene.line}${scene.printed ? `; it printed ${scene.printed}` : ""}`;
    };
    const step = async (word) => {
      busy = true;
      paint();
      const answer = await ask(model, "step", { word }, 35);
      busy = false;
      paint();
      if (answer.refused) says.textContent = answer.refused;
    };
    model.on("change:scene", paint);
    paint();
  },
};
