// Elements. Texts become text nodes: nothing that a scenario says is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (`onclick` and the like are listeners) and children, strings as text. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === "object" ? child : String(child));
  }
  return element;
}

/** A text whose parts between backticks are code. */
export function inline(text) {
  const parts = String(text).split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, at) => (at % 2 ? el("code", {}, part) : part));
}

/** What `make` makes; if results of another version or a damaged table do not let it, a note that says why. */
export function tried(what, make) {
  try {
    return make();
  } catch (error) {
    return failed(what, error);
  }
}

/** A note in place of what could not be made. */
export function failed(what, error) {
  console.error(error);
  return el("p", { class: "note lost", role: "alert" }, `${what} cannot be shown: ${error.message}. Are the results of another version of leobench, or were they changed?`);
}

/** A section of the page with a heading that can be linked to. */
export function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
}

/** Offers a text as a file. */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A name that every file system takes. */
export function fileName(text) {
  return text.replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "") || "leobench";
}
