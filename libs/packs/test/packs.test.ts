import { describe, expect, it } from '@jest/globals';
import { ToolInputError, ToolUserError } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { builtInTools } from '@sluice/packs';
import type { Answer, KnowledgeStore, Row } from '@sluice/tools';
import { context, patience } from '../../sources/test/configured.js';

function run(type: string, args: JsonObject, capabilities: Record<string, unknown>): Promise<unknown> {
  const contract = builtInTools.find((each) => each.type === type);
  if (contract === undefined) throw new Error(`no ${type}`);
  const all = { cancellation: { signal: patience() }, idempotency: { key: 'k' }, ...capabilities };
  return contract.execute(contract.parseInput(args), context, all).then((output) => contract.parseOutput(output));
}

describe('get_current_time (K-09, C-18)', () => {
  const winter = { clock: { now: () => Date.UTC(2026, 0, 15, 12, 34, 56, 789) } };

  it.each([
    [{}, { time: '2026-01-15T12:34:56Z', timezone: 'UTC' }],
    [{ timezone: 'Europe/Zurich' }, { time: '2026-01-15T13:34:56+01:00', timezone: 'Europe/Zurich' }],
    [{ timezone: 'Asia/Kathmandu' }, { time: '2026-01-15T18:19:56+05:45', timezone: 'Asia/Kathmandu' }],
    [{ timezone: 'Europe/London' }, { time: '2026-01-15T12:34:56+00:00', timezone: 'Europe/London' }],
  ])('%j', async (args, expected) => {
    const result = (await run('get_current_time', args, winter)) as { time: string };
    expect(result).toEqual(expected);
    expect(Date.parse(result.time)).toBe(Date.UTC(2026, 0, 15, 12, 34, 56));
  });

  it('shows midnight as 00 and the offset of the season', async () => {
    const summer = { clock: { now: () => Date.UTC(2026, 6, 1, 22, 0, 0) } };
    expect(await run('get_current_time', { timezone: 'Europe/Zurich' }, summer)).toMatchObject({
      time: '2026-07-02T00:00:00+02:00',
    });
  });

  it('says what to write for an unknown zone', async () => {
    await expect(run('get_current_time', { timezone: 'Mars/Olympus' }, winter)).rejects.toThrow(ToolUserError);
  });

  it('refuses extra arguments', () => {
    expect(() => run('get_current_time', { zone: 'UTC' }, winter)).toThrow(ToolInputError);
  });
});

describe('mark_complete', () => {
  const complete = async (args: JsonObject): Promise<unknown> => run('mark_complete', args, {});

  it('gives the summary back, which is the run’s answer (D-T40)', async () => {
    expect(await complete({ summary: ' Both are written.\n' })).toBe('Both are written.');
  });

  it.each([[{}], [{ summary: '' }], [{ summary: ' \n' }], [{ summary: 'a'.repeat(6_001) }]])(
    'takes no %j',
    async (args) => {
      await expect(complete(args as JsonObject)).rejects.toThrow(/summary/);
    },
  );
});

describe('text-completion', () => {
  it('passes the prompt and the signal on', async () => {
    const signal = patience();
    const text = { complete: async (prompt: string, given: AbortSignal) => `${prompt}! ${given === signal}` };
    expect(await run('text-completion', { prompt: 'Hello' }, { text, cancellation: { signal } })).toEqual({
      text: 'Hello! true',
    });
  });
});

describe('knowledge-query', () => {
  const knowing = (rows: readonly Row[], count = rows.length): { knowledge: KnowledgeStore } => {
    const answer = async (): Promise<Answer> => ({ rows, count });
    return {
      knowledge: {
        find: answer,
        query: answer,
        change: () => Promise.reject(new Error('reads only')),
        close: async () => undefined,
      },
    };
  };

  it.each([[{}], [{ relation: 'borders' }], [{ entity: 'France', sparql: 'ASK {}' }]])(
    'says what it needs when given %j',
    async (args) => {
      await expect(run('knowledge-query', args, knowing([]))).rejects.toThrow(/entity.*sparql/);
    },
  );

  it('leaves a whole answer as it is', async () => {
    expect(await run('knowledge-query', { entity: 'x' }, knowing([{ name: 'a' }]))).toEqual({
      rows: [{ name: 'a' }],
      count: 1,
    });
  });

  it('shows 200 rows at most and says how many there are', async () => {
    const rows = Array.from({ length: 201 }, (_, n) => ({ n }));
    const result = (await run('knowledge-query', { entity: 'x' }, knowing(rows))) as { rows: unknown[] };
    expect(result).toMatchObject({ count: 201, truncated: true });
    expect(result.rows).toHaveLength(200);
  });

  it('keeps the result under 24 KB of UTF-8', async () => {
    const rows = Array.from({ length: 150 }, () => ({ text: 'é'.repeat(200) }));
    const result = (await run('knowledge-query', { entity: 'x' }, knowing(rows))) as { rows: unknown[] };
    const bytes = Buffer.byteLength(JSON.stringify(result));
    expect(bytes).toBeLessThanOrEqual(24 * 1024);
    expect(bytes).toBeGreaterThan(23 * 1024);
    expect(result).toMatchObject({ count: 150, truncated: true });
  });
});

describe('graph-update', () => {
  const changing = { knowledge: { change: async () => ({ added: 1, removed: 0, alreadyDone: false }) } };

  it('gives the counts', async () => {
    const add = [{ subject: 'a', predicate: 'b', object: 5 }];
    expect(await run('graph-update', { add }, changing)).toEqual({ added: 1, removed: 0, already_done: false });
  });

  it('wants something to do', async () => {
    await expect(run('graph-update', { add: [] }, changing)).rejects.toThrow(ToolUserError);
  });
});
