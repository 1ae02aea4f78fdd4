import type { Finding, Problem } from './types.js';

/** Longest piece of a text that a message repeats. */
const shownCharacters = 60;

/** A value from the file, named in a few words. Never goes into a list or a map, so that what is deep or cyclic does no harm. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${String(value.length)}`;
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${String(value)}`;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** A text in double quotes, cut if it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text);
}

/** A key behind a path: `tool.graph-update`; `tool["a.b"]` where a dot would mislead. */
export function join(path: string, key: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(key)) return `${path}[${quote(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Names in a sentence: `a, b and c`. */
export function sentenceList(names: readonly string[], most = 20): string {
  const shown = names.slice(0, most);
  if (names.length > most) return `${shown.join(', ')} and ${String(names.length - most)} more`;
  const last = shown.pop();
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last ?? ''}`;
}

/** One line a problem: where, what was found, what to write instead. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems
    .map((problem) => `${problem.path || '(the file)'}: found ${problem.found}; write ${problem.write}`)
    .join('\n');
}

/** One line a finding, the kind first. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings.map((finding) => `${finding.kind} ${finding.path}: ${finding.message}`).join('\n');
}
