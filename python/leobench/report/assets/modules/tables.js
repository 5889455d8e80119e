// Tables that sort by the column whose heading is pressed, and can be saved as CSV.

import { quote } from "report/chart";
import { el, fileName, save } from "report/dom";

// How the reader has sorted each table: a page that is watched is made again and again.
const orders = new Map();

/**
 * A table. Columns have `label` and `value(row)` (a number, a text, or null), which sorts and goes into the CSV;
 * `show(row)`, unless it is the value, is what the cell has: a text or an element. A table of texts is `long`: it has
 * its whole height, and on a narrow page each row becomes a block of lines.
 */
export function table({ id, caption, columns, rows, onRow = null, long = false }) {
  const body = el("tbody");
  const order = orders.get(id) ?? { column: null, down: false };
  orders.set(id, order);
  const heads = columns.map((column, at) => {
    const head = el("th", { scope: "col", class: column.number ? "number" : null });
    head.append(el("button", { type: "button", title: column.title ?? "Sort", onclick: () => sort(at) }, column.label));
    return head;
  });
  const fill = (list) => body.replaceChildren(...list.map((row) => {
    const cells = columns.map((column, at) => el(at ? "td" : "th", { scope: at ? null : "row", "data-label": long && at ? column.label : null, class: column.number ? "number" : column.name ? "name" : null }, (column.show ?? column.value)(row) ?? "–"));
    return el("tr", onRow ? { class: "link", tabindex: 0, onclick: () => onRow(row), onkeydown: (event) => event.key === "Enter" && onRow(row) } : {}, cells);
  }));
  const sort = (at) => {
    order.down = order.column === at ? !order.down : false;
    order.column = at;
    arrange();
  };
  const arrange = () => {
    const at = order.column;
    if (at === null || at >= columns.length) {
      fill(rows);
      return;
    }
    heads.forEach((head, place) => (place === at ? head.setAttribute("aria-sort", order.down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    fill([...rows].sort((one, two) => (order.down ? -1 : 1) * compared(columns[at].value(one), columns[at].value(two), order.down)));
  };
  arrange();
  const csv = el("button", { type: "button", class: "quiet", title: "Save this table as CSV", onclick: () => save(fileName(`${id}.csv`), text(columns, rows), "text/csv") }, "CSV");
  const hint = el("span", { class: "hint scrolls" });
  const scroll = el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body));
  const box = el("div", { class: "scroll-box" }, scroll);
  cue(box, scroll, (wide, tall) => (hint.textContent = scrolls(wide, tall, rows.length)));
  return el(
    "div",
    { class: long ? "table long" : "table", id: `table-of-${id}` },
    el("div", { class: "table-top" }, el("h3", {}, caption), hint, csv),
    box,
  );
}

/** Shades the edges beyond which a table goes on, and tells `tell` whether it is wider and taller than its place. */
function cue(box, scroll, tell) {
  const look = () => {
    const [wide, tall] = [scroll.scrollWidth - scroll.clientWidth, scroll.scrollHeight - scroll.clientHeight];
    box.classList.toggle("right", wide - scroll.scrollLeft > 1);
    box.classList.toggle("below", tall - scroll.scrollTop > 1);
    if (wide > 1 || tall > 1) scroll.setAttribute("tabindex", 0);
    else scroll.removeAttribute("tabindex");
    tell(wide > 1, tall > 1);
  };
  scroll.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(scroll);
}

function scrolls(wide, tall, rows) {
  if (wide) return tall ? `scroll for all columns and ${rows} rows` : "scroll for all columns →";
  return tall ? `scroll for all ${rows} rows ↓` : "";
}

/** Missing values come last, whichever way the table is sorted. */
function compared(one, two, down) {
  const [left, right] = [missing(one), missing(two)];
  if (left || right) return (left - right) * (down ? -1 : 1);
  if (typeof one === "number" && typeof two === "number") return one - two;
  return String(one).localeCompare(String(two), "en", { numeric: true });
}

function missing(value) {
  return value === null || value === undefined || value === "" || Number.isNaN(value);
}

function text(columns, rows) {
  const flat = columns.flatMap((column) => column.parts ?? [{ label: column.label, value: column.value }]);
  const lines = [flat.map(({ label }) => quote(label)), ...rows.map((row) => flat.map(({ value }) => field(value(row))))];
  return `${lines.map((line) => line.join(",")).join("\n")}\n`;
}

function field(value) {
  if (missing(value)) return "";
  return typeof value === "number" ? String(value) : quote(String(value));
}
