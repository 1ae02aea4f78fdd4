import { usedOf } from './network/uses.js';

/**
 * What a source uses of Node that the process of a tool has not, as far as its text says: for its author and the
 * operator.
 */
export function closedNames(source: string): readonly string[] {
  const writes = usedOf(importing, source).length > 0 ? usedOf(writing, source) : [];
  return [...writes, ...usedOf(forms, source)];
}

/** Methods of `fs` count where the file imports it: others have such names too. */
const importing = { fs: /['"](?:node:)?fs(?:\/promises)?['"]/ };
const writing = {
  'writing files':
    /\b(?:writeFile|appendFile|createWriteStream|mkdir|mkdtemp|rm|rmdir|unlink|rename|copyFile|cp|truncate|chmod|chown|symlink|link|utimes)(?:Sync)?\s*\(/,
};

/** By the name that a finding has for it. */
const forms = {
  'the environment': /\bprocess\s*\.\s*env\b|\benv\b[^;]{0,80}?from\s*['"](?:node:)?process['"]/,
  'node:child_process': /['"](?:node:)?child_process['"]/,
  'node:worker_threads': /['"](?:node:)?worker_threads['"]/,
  'node:cluster': /['"](?:node:)?cluster['"]/,
  'node:sqlite': /['"]node:sqlite['"]/,
};
