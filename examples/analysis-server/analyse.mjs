/** Distinct values of a text column that are listed; more are only counted. */
const listed = 12;

/** What can be said of these rows: `summary` in words that can be checked against them, and the same as data. */
export function analyse(rows, question = '') {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const label = labelColumn(rows, names);
  const columns = mentionedFirst(names, question)
    .filter((name) => name !== label)
    .map((name) => describe(rows, name, label));
  const ranked = rank(rows, columns.find((column) => column.kind === 'number')?.name, label);
  const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}.`;
  return {
    summary: [count, ...columns.filter(tellsSomething).map(sentence)].join(' '),
    columns,
    rows: ranked,
    count: rows.length,
  };
}

/** The columns that the question names come first, the others in their order. */
function mentionedFirst(names, question) {
  const words = question.toLowerCase();
  const mentioned = names.filter((name) => words.includes(name.toLowerCase()));
  return [...mentioned, ...names.filter((name) => !mentioned.includes(name))];
}

/** A text that is different in each row (a code, a capital) compares nothing; it is among the columns all the same. */
function tellsSomething({ kind, count, distinct }) {
  return kind === 'number' || count < 2 || distinct < count;
}

/**
 * The column that names the rows: `name`, `label` or `title`, else the first whose values are all texts and all
 * different.
 */
function labelColumn(rows, names) {
  const known = ['name', 'label', 'title'].find((name) => names.includes(name));
  if (known !== undefined) return known;
  return names.find((name) => {
    const values = rows.map((row) => row[name]);
    return values.every((value) => typeof value === 'string') && new Set(values).size === rows.length;
  });
}

function describe(rows, name, label) {
  const present = rows
    .map((row, at) => ({ value: row[name], of: nameOf(row, at, label) }))
    .filter(({ value }) => value !== undefined && value !== null);
  if (present.length > 0 && present.every(({ value }) => typeof value === 'number')) return numberColumn(name, present);
  const values = [
    ...new Set(present.map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)))),
  ].sort();
  return { name, kind: 'text', count: present.length, distinct: values.length, values: values.slice(0, listed) };
}

function numberColumn(name, present) {
  const sorted = [...present].sort((a, b) => a.value - b.value);
  const middle = sorted.length / 2;
  const at = (place) => sorted[place].value;
  const total = sorted.reduce((sum, { value }) => sum + value, 0);
  return {
    name,
    kind: 'number',
    count: sorted.length,
    min: at(0),
    min_of: sorted[0].of,
    max: at(sorted.length - 1),
    max_of: sorted[sorted.length - 1].of,
    mean: total / sorted.length,
    median: sorted.length % 2 === 1 ? at(Math.floor(middle)) : (at(middle - 1) + at(middle)) / 2,
  };
}

/** Largest first by that column, equal values in the rows' order; without a column, the rows' names in their order. */
function rank(rows, column, label) {
  const named = rows.map((row, at) => ({
    name: nameOf(row, at, label),
    ...(column === undefined ? {} : { [column]: row[column] }),
  }));
  if (column === undefined) return named;
  return named
    .filter((row) => typeof row[column] === 'number')
    .sort((a, b) => b[column] - a[column])
    .map((row, at) => ({ rank: at + 1, ...row }));
}

function nameOf(row, at, label) {
  return label !== undefined && typeof row[label] === 'string' ? row[label] : `row ${at + 1}`;
}

function sentence(column) {
  if (column.kind === 'number') {
    const { name, min, min_of, max, max_of, mean, median } = column;
    if (min === max) return `${name}: ${figure(min)} throughout.`;
    return `${name}: largest ${max_of} (${figure(max)}), smallest ${min_of} (${figure(min)}), mean ${figure(mean)}, median ${figure(median)}.`;
  }
  const { name, distinct, values } = column;
  if (distinct === 0) return `${name}: no values.`;
  const more = distinct > values.length ? ` and ${distinct - values.length} more` : '';
  return distinct === 1
    ? `${name}: ${values[0]} throughout.`
    : `${name}: ${distinct} different values (${values.join('; ')}${more}).`;
}

/** With thousands separators, and at most one decimal place. */
function figure(number) {
  return number.toLocaleString('en-US', { maximumFractionDigits: 1 });
}
