// Changes of single values in the text of a scenario, which leave comments and everything else as they are.

const HEADER = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$/;

/** The text with `key` in `[table]` (`""` is the top) set to a value as TOML has it; `null` takes the key away. */
export function withValue(text, table, key, value) {
  const lines = text.split("\n");
  const [start, end] = rangeOf(lines, table);
  if (start === null) throw new Error(`the scenario has no table [${table}]`);
  const at = lines.findIndex((line, number) => number >= start && number < end && keyOf(line) === key);
  if (at >= 0) {
    if (!isWhole(lines[at])) throw new Error(`the value of ${key} in [${table}] is on more than one line`);
    const written = value === null ? [] : [`${key} = ${value}${commentOf(lines[at])}`];
    lines.splice(at, 1, ...written);
  } else if (value !== null) {
    lines.splice(lastKey(lines, start, end) + 1, 0, `${key} = ${value}`);
  }
  return lines.join("\n");
}

/** The numbers of the first line of a table's content and of the line behind it. */
function rangeOf(lines, table) {
  const headers = lines.map((line) => HEADER.exec(line)?.[1].replace(/\s*\.\s*/g, ".") ?? null);
  const begin = table === "" ? -1 : headers.indexOf(table);
  if (table !== "" && begin < 0) return [null, null];
  const next = headers.findIndex((header, number) => number > begin && header !== null);
  return [begin + 1, next < 0 ? lines.length : next];
}

function lastKey(lines, start, end) {
  for (let at = end - 1; at >= start; at -= 1) if (keyOf(lines[at]) !== null) return at;
  return start - 1;
}

function keyOf(line) {
  return /^\s*([A-Za-z0-9_-]+)\s*=/.exec(line)?.[1] ?? null;
}

/** Where the comment of a line begins, or its length. */
function commentAt(line) {
  let quote = null;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at];
    if (quote) {
      if (letter === "\\" && quote === '"') at += 1;
      else if (letter === quote) quote = null;
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "#") return at;
  }
  return line.length;
}

/** The comment of a line, with the space before it. */
function commentOf(line) {
  const at = commentAt(line);
  const before = line.slice(0, at);
  return at < line.length ? before.slice(before.trimEnd().length) + line.slice(at) : "";
}

/** Whether all brackets and quotes of a line close on it. */
function isWhole(line) {
  const content = line.slice(0, commentAt(line));
  const count = (letter) => content.split(letter).length - 1;
  return !/"""|'''/.test(content) && count("[") === count("]") && count("{") === count("}");
}
