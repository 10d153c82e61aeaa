// Elements without markup: text enters the page through text nodes and attributes, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

function replace(node, ...children) {
  node.replaceChildren();
  return fill(node, null, children);
}

function button(label, attributes, ...children) {
  return el("button", { type: "button", "aria-label": children.length ? label : null, ...attributes },
    children.length ? children : label);
}

// A section that opens and closes without scripts of ours; `open` is remembered by nobody.
function foldable(title, open, ...children) {
  return el("details", { class: "fold", open }, el("summary", null, title), children);
}
