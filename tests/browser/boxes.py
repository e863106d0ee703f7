"""What a view's boxes say: words, overlaps, nameless controls, wordless colours; how alike pictures are."""

# SPDX-License-Identifier: MIT
import base64
from typing import Any

OVERLAPS = """root => {
  const texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const clip = (box, element) => {
    for (let at = element; at && at !== root.parentElement; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.visibility === 'hidden' || style.opacity === '0') return null;
      if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
        const edge = at.getBoundingClientRect();
        box = { left: Math.max(box.left, edge.left),
                right: Math.min(box.right, edge.right),
                top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom) };
      }
    }
    return box.right - box.left > 1 && box.bottom - box.top > 1 ? box : null;
  };
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const hidden = 'option, details:not([open]) > :not(summary)';
    if (!node.textContent.trim() || node.parentElement.closest(hidden)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const box = clip(rect, node.parentElement);
      if (box) texts.push([node.textContent.trim().slice(0, 40), box, node.parentElement]);
    }
  }
  const found = [];
  for (let i = 0; i < texts.length; i += 1)
    for (let j = i + 1; j < texts.length; j += 1) {
      const [a, b] = [texts[i][1], texts[j][1]];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 4 && texts[i][2] !== texts[j][2]) found.push([texts[i][0], texts[j][0]]);
    }
  return found;
}"""
"""Pairs of texts of different elements whose boxes lie on each other, as far as they can be seen."""

NAMELESS = """root => {
  const takes = 'button, input, select, summary, a[href], [tabindex], [role=listbox], [role=tree]';
  const named = one => (one.getAttribute('aria-label') || '').trim() || (one.textContent || '').trim()
    || (one.title || '').trim() || (one.labels && one.labels.length);
  const found = Array.from(root.querySelectorAll(takes));
  return found.filter(one => !named(one)).map(one => one.outerHTML.slice(0, 200));
}"""
"""Controls that a screen reader could not call by a name."""

TINTED = """root => {
  const isText = node => node.nodeType === Node.TEXT_NODE;
  const own = one => Array.from(one.childNodes).filter(isText).map(node => node.data.trim()).join('');
  const hue = colour => {
    const [red, green, blue, alpha = 1] = (colour.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return alpha > 0.1 && Math.max(red, green, blue) - Math.min(red, green, blue) > 40 ? colour : '';
  };
  const row = one => (one.closest('.row, summary, tr') || { textContent: '' }).textContent.trim();
  const words = one => one.textContent.trim() || one.title || one.getAttribute('aria-label') || row(one);
  const marks = (one, style) => [style.backgroundImage === 'none' ? '' : 'pattern',
    style.position === 'absolute' ? `at ${style.top}` : '', one.matches('.on') ? 'filled' : ''];
  return Array.from(root.querySelectorAll('*')).flatMap(one => {
    const style = getComputedStyle(one);
    const painted = hue(style.backgroundColor) || hue(own(one) && style.color);
    const sign = [words(one), ...marks(one, style)].filter(Boolean).join(' ');
    return painted && one.getClientRects().length ? [[one.parentElement.className, painted, sign]] : [];
  });
}"""
"""What has a hue of its own: its place, the hue, and what else says it: words, a pattern, where it stands."""

LABELS = """root => {
  const found = new Set();
  const isWord = word => /^[A-Za-z][a-z]{2,}$/.test(word);
  const add = text => text.split(/\\s+/).filter(isWord).forEach(word => found.add(word));
  root.querySelectorAll('.title, button:not(.node), [aria-label]').forEach(one => {
    add(one.getAttribute('aria-label') || one.innerText);
  });
  if (root.getAttribute('aria-label')) add(root.getAttribute('aria-label'));
  return Array.from(found).sort();
}"""
"""The words of titles, buttons and names of parts; those of facts are the machine's."""

ALIKE = """async ([one, two, across, down]) => {
  const grey = async url => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [across, down];
    const pen = canvas.getContext('2d');
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(image, 0, 0, across, down);
    const dots = pen.getImageData(0, 0, across, down).data;
    return { ratio: image.width / image.height,
             dots: Array.from({ length: across * down },
                              (_, i) => (dots[4*i] + dots[4*i+1] + dots[4*i+2]) / 765) };
  };
  const [a, b] = [await grey(one), await grey(two)];
  const apart = a.dots.map((dot, i) => Math.abs(dot - b.dots[i]));
  return { mean: apart.reduce((x, y) => x + y, 0) / apart.length, ratio: a.ratio / b.ratio };
}"""


def overlaps(locator: Any) -> list[list[str]]:
    """Texts of a locator's element that lie on each other."""
    found: list[list[str]] = locator.evaluate(OVERLAPS)
    return found


def nameless(locator: Any) -> list[str]:
    """Controls in a locator's element without a name to be called by."""
    found: list[str] = locator.evaluate(NAMELESS)
    return found


def only_by_colour(locator: Any) -> list[tuple[str, str, str]]:
    """Coloured things that nothing else tells, or that differ from others of their place by colour only."""
    found = {tuple(one) for one in locator.evaluate(TINTED)}
    hues: dict[tuple[str, str], set[str]] = {}
    for place, hue, sign in found:
        hues.setdefault((place, sign), set()).add(hue)
    return sorted(one for one in found if not one[2] or len(hues[one[0], one[2]]) > 1)


def labels(locator: Any) -> list[str]:
    """The words of a locator's element."""
    found: list[str] = locator.evaluate(LABELS)
    return found


def apart(page: Any, one: bytes, two: bytes) -> tuple[float, float]:
    """How far two PNG pictures differ on a grid of 24 by 16: mean brightness (0 to 1), shapes."""
    urls = [f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in (one, two)]
    said = page.evaluate(ALIKE, [*urls, 24, 16])
    return said["mean"], said["ratio"]
