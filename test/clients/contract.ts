import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { parse } from 'yaml';
import { eventually } from '../harness/eventually.js';
import type { Breakage } from './breaking-proxy.js';
import type { Driver, Outcome } from './driver.js';
import type { Fixture } from './fixture.js';

type Json = Readonly<Record<string, unknown>>;

export interface Step {
  readonly do: string;
  readonly with?: Json;
  readonly as?: string;
  readonly proxy?: Breakage;
  readonly options?: Json;
  readonly save?: string;
  readonly is?: unknown;
  /** The result is asked for again until it is this. */
  readonly until?: unknown;
  readonly has?: readonly Json[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly error?: Json;
}

export interface Case {
  readonly name: string;
  readonly gateway?: 'limited';
  readonly steps: readonly Step[];
}

export const cases = parse(readFileSync(join(import.meta.dirname, 'cases.yaml'), 'utf8')) as readonly Case[];

/** Does the steps of a case with a client, and holds what comes back against what the case says. */
export async function perform({ gateway, steps }: Case, driver: Driver, fixture: Fixture, id: string): Promise<void> {
  const saved: Record<string, unknown> = { id };
  const { proxy, limitedUrl } = fixture;
  for (const step of steps) {
    const fill = <T>(value: T): T => filled(value, saved) as T;
    const user = step.as ?? 'ann';
    const token = await fixture.token(user === 'limited' ? `limited-${id}` : user);
    const settings = { url: gateway === 'limited' ? limitedUrl : proxy.url, token, ...step.options };
    const call = (): Promise<Outcome> => driver.call(settings, step.do, fill(step.with ?? {}));
    proxy.break(step.proxy ?? {});
    const wanted = fill(step.until);
    const outcome = wanted === undefined ? await call() : await eventually(call, (one) => isLike(one, wanted));
    if (step.proxy !== undefined) expect(proxy.broken).toBeGreaterThan(0);
    if (step.error !== undefined) {
      expect(outcome).toMatchObject({ error: loosely(fill(step.error)) as object });
      continue;
    }
    if ('error' in outcome) throw new Error(`${step.do} ended with ${JSON.stringify(outcome.error)}`);
    const { result } = outcome;
    if (step.save !== undefined) saved[step.save] = result;
    if (step.is !== undefined) expect({ result }).toMatchObject({ result: loosely(fill(step.is)) });
    if (step.has !== undefined) expectInOrder(result as readonly Json[], fill(step.has));
    for (const [type, count] of Object.entries(step.counts ?? {}))
      expect([type, (result as readonly Json[]).filter((event) => event['type'] === type).length]).toEqual([
        type,
        count,
      ]);
  }
}

function isLike(outcome: Outcome, wanted: unknown): boolean {
  try {
    expect(outcome).toMatchObject({ result: loosely(wanted) });
    return true;
  } catch {
    return false;
  }
}

/** Each of these stands behind the one before it; others may stand between. */
function expectInOrder(events: readonly Json[], wanted: readonly Json[]): void {
  let from = 0;
  for (const one of wanted) {
    const at = events.findIndex((event, index) => index >= from && isLike({ result: event }, one));
    if (at === -1)
      expect({ events: events.slice(from) }).toEqual({
        events: expect.arrayContaining([expect.objectContaining(one)]),
      });
    expect(at).toBeGreaterThanOrEqual(from);
    from = at + 1;
  }
}

/** `$name.member` is what was saved; `$any` stays. */
function filled(value: unknown, saved: Json): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, saved));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, saved)]));
  if (typeof value !== 'string' || value === '$any') return value;
  const [, path] = /^\$([\w.]+)$/.exec(value) ?? [];
  if (path === undefined) return value.replaceAll('$id', String(saved['id']));
  return path.split('.').reduce<unknown>((within, name) => {
    const found = (within as Json | undefined)?.[name];
    if (found === undefined) throw new Error(`${value} was not saved.`);
    return found;
  }, saved);
}

/** `$any` is whatever there is, and a text between slashes a pattern. */
function loosely(value: unknown): unknown {
  if (value === '$any') return expect.anything();
  const [, pattern, flags] = typeof value === 'string' ? (/^\/(.*)\/(\w*)$/.exec(value) ?? []) : [];
  if (pattern !== undefined) return expect.stringMatching(new RegExp(pattern, flags));
  if (Array.isArray(value)) return value.map(loosely);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, loosely(one)]));
}
