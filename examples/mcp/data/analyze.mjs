export const longestText = 1_000_000;
const mostPaths = 200;
const longestPath = 200;

/** Throws an error with a sentence for the model where the text is no JSON. */
export function analyzeJson(text) {
  const root = parse(text);
  const counts = {};
  const paths = new Map();
  let depth = 0;
  let leftOut = 0;
  // A list of what is still to be looked at, so that deep nesting cannot exhaust the stack.
  const waiting = [{ value: root, path: '$', level: 0 }];
  while (waiting.length > 0) {
    const { value, path, level } = waiting.pop();
    const type = typeOf(value);
    counts[type] = (counts[type] ?? 0) + 1;
    depth = Math.max(depth, isNested(type) ? level + 1 : level);
    const known = paths.get(path);
    if (known !== undefined) {
      known.types.add(type);
      known.count++;
    } else if (paths.size < mostPaths) paths.set(path, { types: new Set([type]), count: 1 });
    else leftOut++;
    for (const [name, child] of childrenOf(value, type))
      waiting.push({ value: child, path: `${path}${name}`.slice(0, longestPath), level: level + 1 });
  }
  return {
    type: typeOf(root),
    bytes: Buffer.byteLength(text),
    depth,
    counts,
    paths: [...paths].map(([path, { types, count }]) => ({ path, types: [...types].sort(), count })),
    paths_left_out: leftOut,
  };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Invalid json_data. Please provide valid JSON: ${error.message.slice(0, 200)}.`, { cause: error });
  }
}

/** Backwards, since the last one that waits is looked at first. */
function childrenOf(value, type) {
  if (type === 'array') return value.map((item) => ['[]', item]).reverse();
  if (type === 'object')
    return Object.entries(value)
      .map(([name, member]) => [`.${name}`, member])
      .reverse();
  return [];
}

const isNested = (type) => type === 'array' || type === 'object';

function typeOf(value) {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
