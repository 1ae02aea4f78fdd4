import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { afterAll } from '@jest/globals';
import { prepared } from './prepared.ts';
import { scansOf } from './scans.ts';

/**
 * Every suite runs with this: what the project’s code prepares on SQLite is explained at once, and a statement that
 * reads the whole of a table that grows fails the suite. So a new statement is held as soon as any test runs it,
 * without a list to keep.
 */
type Prepare = (this: DatabaseSync, text: string) => StatementSync;

const kept = Symbol.for('sluice.prepare');
const prototype = DatabaseSync.prototype as unknown as { prepare: Prepare; [kept]?: Prepare };
// The prototype is Node’s own, which the suites of one worker share.
const prepare = (prototype[kept] ??= prototype.prepare);

/** Who prepares: sources of the project. Tests look into files as they like. */
const ours = /\/(?:libs|apps)\/[^/]+\/src\//;
const found = new Map<string, string>();

prototype.prepare = function (text) {
  const statement = prepare.call(this, text);
  if (/^\s*(?:PRAGMA|EXPLAIN)\b/i.test(text) || prepared.has(text)) return statement;
  const caller = new Error().stack?.split('\n')[2] ?? '';
  if (!ours.test(caller)) return statement;
  prepared.add(text);
  const plan = prepare.call(this, `EXPLAIN QUERY PLAN ${text}`).all();
  const scans = scansOf(text, plan.map((row) => String(row['detail']))); // prettier-ignore
  if (scans.length > 0) found.set(text, `${scans.join('; ')}\n    ${caller.trim()}`);
  return statement;
};

afterAll(() => {
  prototype.prepare = prepare;
  if (found.size === 0) return;
  const all = [...found].map(([text, why]) => `  ${text.trim()}\n    ${why}`).join('\n');
  throw new Error(
    `These statements read the whole of a table that grows. Give them an index, or say in test/infra/scans.ts why they may:\n${all}`,
  );
});
