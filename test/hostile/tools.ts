import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ToolOutcomeLostError, ToolUserError } from '@sluice/core';
import type { ToolEffect } from '@sluice/core';
import { defineTool } from '@sluice/tools';
import type { ToolContract } from '@sluice/tools';

/** Planted in every exception: it may stand nowhere afterwards. */
export const marker = 'marker-7f3a-secret';

function hostile(
  type: string,
  execute: (args: { list?: number[] | undefined }) => unknown,
  changes: { output?: z.ZodType; effect?: ToolEffect; whole?: false } = {},
): ToolContract {
  return defineTool({
    type,
    description: 'A tool that means no good.',
    input: z.strictObject({ list: z.array(z.number()).optional() }),
    output: changes.output ?? z.unknown(),
    effect: changes.effect ?? 'read_only',
    redaction: changes.whole === false ? { fields: ['kept'] } : { whole: true },
    capabilities: [],
    repeatable: false,
    requiresConnection: false,
    execute: async (args) => execute(args),
  });
}

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

function deep(): unknown {
  let value: unknown = 1;
  for (let level = 0; level < 100_000; level++) value = { value };
  return value;
}

/** An array that says it has 2^32 - 1 elements of a kilobyte: what would be a terabyte if anybody copied it. */
const terabyte = new Proxy([] as string[], {
  get: (_, key) => (key === 'length' ? 2 ** 32 - 1 : 'x'.repeat(1_024)),
});

const looksBack = new Proxy(new Error(marker), {
  get: () => {
    throw new Error(marker);
  },
  getPrototypeOf: () => {
    throw new Error(marker);
  },
});

class Confusing extends ToolUserError {
  override get message(): string {
    throw new Error(marker);
  }
  override set message(_: string) {
    // Error's constructor writes here.
  }
}

const never = (): Promise<unknown> => new Promise(() => undefined);

/** Each hostile tool, and what its step says: outcome and reason. */
type HostileTool = readonly [does: string, tool: ToolContract, outcome: string, reason: string | null];

export const hostileTools: readonly HostileTool[] = [
  ['throws before its first await', hostile('throws', () => { throw new Error(marker); }), 'execution', null],
  ['rejects with something that is no error', hostile('rejects', () => Promise.reject({ marker })), 'execution', null],
  ['throws an error that throws when it is looked at', hostile('looks-back', () => { throw looksBack; }), 'execution', null],
  ['throws a user-facing error without a readable text', hostile('confusing', () => { throw new Confusing(); }), 'execution', 'user_error'],
  ['throws a text of a million characters', hostile('talks', () => { throw new ToolUserError('x'.repeat(1_000_000)); }), 'execution', 'user_error'],
  ['loses its connection', hostile('loses', () => { throw new ToolOutcomeLostError(marker); }, { effect: 'state_change' }), 'execution', 'outcome_unknown'],
  ['never ends', hostile('hangs', never), 'execution', 'timeout'],
  ['never ends, having perhaps changed something', hostile('hangs-changing', never, { effect: 'external_side_effect' }), 'execution', 'outcome_unknown'],
  ['rejects after its time is up', hostile('late', async () => { await sleep(1_300); throw new Error(marker); }), 'execution', 'timeout'],
  ['resolves twice', hostile('twice', () => new Promise((resolve) => { resolve('first'); resolve('second'); })), 'ok', null],
  ['gives a thenable that answers twice and throws', hostile('thenable', () => ({ then: (done: (value: unknown) => void) => { done('first'); done('second'); throw new Error(marker); } })), 'ok', null],
  ['gives a thenable whose then throws', hostile('thenless', () => ({ get then() { throw new Error(marker); } })), 'execution', null],
  ['gives the wrong shape', hostile('shape', () => ({ marker }), { output: z.object({ kept: z.string() }), whole: false }), 'validation', 'output_invalid'],
  ['gives nothing', hostile('nothing', () => undefined), 'validation', 'output_invalid'],
  ['gives what has none of the fields that may leave', hostile('fieldless', () => 'text', { whole: false }), 'redaction_failed', null],
  ['gives a cycle', hostile('cycle', () => cycle), 'validation', 'output_invalid'],
  ['gives 100,000 levels', hostile('deep', deep), 'validation', 'output_invalid'],
  ['gives a bigint', hostile('bigint', () => ({ a: 1n })), 'validation', 'output_invalid'],
  ['gives an instance with a toJSON that says otherwise', hostile('to-json', () => new Date(0)), 'validation', 'output_invalid'],
  ['gives a toJSON of its own', hostile('own-to-json', () => ({ toJSON: () => marker })), 'validation', 'output_invalid'],
  ['gives a getter that throws', hostile('getter', () => ({ get a() { throw new Error(marker); } })), 'validation', 'output_invalid'],
  ['gives a proxy that throws', hostile('proxy', () => new Proxy({}, { ownKeys: () => { throw new Error(marker); } })), 'validation', 'output_invalid'],
  ['gives half a gigabyte of text', hostile('half-gigabyte', () => 'x'.repeat(2 ** 29 - 25)), 'execution', 'result_too_large'],
  ['gives a terabyte that is not there', hostile('terabyte', () => terabyte), 'execution', 'result_too_large'],
  ['gives a little more than the limit', hostile('large', () => 'x'.repeat(9_999_999)), 'execution', 'result_too_large'],
  ['gives a member __proto__', hostile('proto', () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown), 'ok', null],
  ['changes its arguments', hostile('mutates', (args) => { args.list?.push(4); return args.list?.length; }), 'ok', null],
  ['holds everything up for a while', hostile('blocks', () => { for (const until = performance.now() + 400; performance.now() < until; ); return 'done'; }), 'ok', null],
]; // prettier-ignore
