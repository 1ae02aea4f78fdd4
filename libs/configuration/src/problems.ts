import { quote } from '@sluice/core';
import type { Finding, Problem, UnknownName } from '@sluice/core';

/**
 * A value from the file, named in a few words. Never goes into a list or a map, so that what is deep or cyclic does
 * no harm.
 */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${String(value.length)}`;
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${String(value)}`;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** What was found where a name stands of something that there is not. */
export function unknownName(
  kind: UnknownName['kind'],
  name: string,
): Pick<Problem, 'found'> & { unknown: UnknownName } {
  return { found: `the unknown ${kind} ${quote(name)}`, unknown: { kind, name } };
}

/** A key behind a path: `tool.graph-update`; `tool["a.b"]` where a dot would mislead. */
export function join(path: string, key: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(key)) return `${path}[${quote(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/**
 * One line a problem: where (the line and column first, where they are known), what was found, what to write instead.
 */
export function formatProblems(problems: readonly Problem[]): string {
  return problems
    .map(
      ({ position, ...problem }) =>
        `${position === undefined ? '' : `${position} `}${problem.path || '(the file)'}: found ${problem.found}; write ${problem.write}`,
    )
    .join('\n');
}

/** One line a finding, the kind first. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings.map((finding) => `${finding.kind} ${finding.path}: ${finding.message}`).join('\n');
}
