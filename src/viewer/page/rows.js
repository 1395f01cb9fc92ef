// SPDX-License-Identifier: MIT
// A list of any length of which only what is seen has nodes.  Rows have one height; nodes are used again as one scrolls.
import {el} from './text.js';

const SPARE = 6; // rows above and below what is seen

export class Rows {
  // make() gives an empty row; fill(node, index) writes it; pick(index) is told when one is clicked.
  constructor(box, {height, make, fill, pick}) {
    Object.assign(this, {box, height, make, fill, pick, count: 0, chosen: -1, nodes: new Map(), free: []});
    this.inner = el('div', {class: 'rows-inner'});
    box.replaceChildren(this.inner);
    box.addEventListener('scroll', () => this.later());
    new ResizeObserver(() => this.later()).observe(box);
    this.inner.addEventListener('click', (event) => {
      const row = event.target.closest('[data-index]');
      if (row) this.pick(Number(row.dataset.index), event);
    });
  }

  setHeight(height) {
    if (height === this.height) return;
    this.height = height;
    this.reset(this.count);
  }

  // Another list, or the same with other contents.
  reset(count) {
    this.count = count;
    this.inner.style.setProperty('height', `${count * this.height}px`);
    for (const node of this.nodes.values()) this.put(node);
    this.nodes.clear();
    if (this.chosen >= count) this.chosen = count - 1;
    this.draw();
  }

  // Writes the rows anew that are seen.
  refresh() {
    for (const [index, node] of this.nodes) this.write(node, index);
  }

  choose(index, show = true) {
    const before = this.nodes.get(this.chosen);
    this.chosen = index;
    if (before) this.write(before, Number(before.dataset.index));
    if (show) this.show(index);
    this.draw();
    const now = this.nodes.get(index);
    if (now) this.write(now, index);
  }

  show(index) {
    const top = index * this.height, box = this.box;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + this.height > box.scrollTop + box.clientHeight) box.scrollTop = top + this.height - box.clientHeight;
  }

  later() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => { this.due = false; this.draw(); });
  }

  draw() {
    const from = Math.max(0, Math.floor(this.box.scrollTop / this.height) - SPARE);
    const to = Math.min(this.count, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + SPARE);
    for (const [index, node] of this.nodes)
      if (index < from || index >= to) { this.nodes.delete(index); this.put(node); }
    for (let i = from; i < to; i++)
      if (!this.nodes.has(i)) this.nodes.set(i, this.take(i));
    const chosen = this.nodes.get(this.chosen);
    if (chosen) this.box.setAttribute('aria-activedescendant', chosen.id);
    else this.box.removeAttribute('aria-activedescendant');
  }

  put(node) {
    node.hidden = true;
    this.free.push(node);
  }

  take(index) {
    let node = this.free.pop();
    if (!node) {
      node = this.make();
      node.id = `${this.box.id}-${this.inner.childElementCount}`;
      this.inner.append(node);
    }
    node.hidden = false;
    this.write(node, index);
    return node;
  }

  write(node, index) {
    node.dataset.index = index;
    node.style.setProperty('transform', `translateY(${index * this.height}px)`);
    node.classList.toggle('chosen', index === this.chosen);
    node.setAttribute('aria-selected', index === this.chosen);
    this.fill(node, index);
  }
}
