import { usedOf } from './network/uses.js';

/** What a source uses of Node that the process of a tool has not, as far as its text says: for its author and the operator. */
export function closedNames(source: string): readonly string[] {
  return usedOf(forms, source);
}

const writing =
  'writeFile|appendFile|createWriteStream|mkdir|mkdtemp|rm|rmdir|unlink|rename|copyFile|cp|truncate|chmod|chown|symlink|link|utimes';

/** By the name that a finding has for it. Methods of `fs` count where the file imports it: others have such names too. */
const forms = {
  'writing files': new RegExp(
    `^(?=[\\s\\S]*${moduleOf('fs(?:/promises)?')})[\\s\\S]*\\b(?:${writing})(?:Sync)?\\s*\\(`,
  ),
  'the environment': /\bprocess\s*\.\s*env\b|\benv\b[^;]{0,80}?from\s*['"](?:node:)?process['"]/,
  'node:child_process': new RegExp(moduleOf('child_process')),
  'node:worker_threads': new RegExp(moduleOf('worker_threads')),
  'node:cluster': new RegExp(moduleOf('cluster')),
  'node:sqlite': new RegExp(moduleOf('sqlite')),
};

function moduleOf(name: string): string {
  return `['"](?:node:)?${name}['"]`;
}
