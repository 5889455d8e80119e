// Columns of tables in memory: numbers as `Float64Array`, texts as `Words`.

/** A text column: for each row the place of its word, -1 for a missing one. */
export class Words {
  constructor(length) {
    this.codes = new Int32Array(length);
    this.words = [];
    this.places = new Map();
  }

  /** The column of rows whose words are known by their places. */
  static of(words, codes) {
    const made = new Words(0);
    return Object.assign(made, { codes, words, places: new Map(words.map((word, place) => [word, place])) });
  }

  set(row, word) {
    if (word === null || word === undefined) {
      this.codes[row] = -1;
      return;
    }
    let code = this.places.get(word);
    if (code === undefined) {
      code = this.words.length;
      this.words.push(word);
      this.places.set(word, code);
    }
    this.codes[row] = code;
  }

  at(row) {
    return this.codes[row] < 0 ? null : this.words[this.codes[row]];
  }
}

/** The rows of a table by the values of some columns: `key` in words, and the numbers of the rows. */
export function grouped(columns, names, rows) {
  const parts = names.map((name) => columns[name]);
  const codes = parts.map((part) => (part instanceof Words ? part.codes : part));
  const sizes = parts.map((part) => (part instanceof Words ? part.words.length + 1 : 4096));
  const places = new Map();
  const counts = [];
  const firsts = [];
  const groups = new Uint32Array(rows);
  let last = NaN;
  let group = -1;
  for (let row = 0; row < rows; row += 1) {
    let id = 0;
    for (let at = 0; at < codes.length; at += 1) id = id * sizes[at] + codes[at][row] + 1;
    // Rows of a group mostly follow each other.
    if (id !== last) {
      last = id;
      group = places.get(id) ?? -1;
      if (group < 0) {
        group = firsts.length;
        places.set(id, group);
        firsts.push(row);
        counts.push(0);
      }
    }
    groups[row] = group;
    counts[group] += 1;
  }
  const found = counts.map((count) => new Uint32Array(count));
  const filled = new Uint32Array(counts.length);
  for (let row = 0; row < rows; row += 1) found[groups[row]][filled[groups[row]]++] = row;
  const value = (part, row) => (part instanceof Words ? part.at(row) : part[row]);
  return found.map((own, at) => ({
    key: Object.fromEntries(names.map((name, place) => [name, value(parts[place], firsts[at])])),
    rows: own,
  }));
}

/** The values of some rows, each divided by `divisor`. */
export function picked(column, rows, divisor = 1) {
  const values = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at += 1) values[at] = column[rows[at]] / divisor;
  return values;
}
