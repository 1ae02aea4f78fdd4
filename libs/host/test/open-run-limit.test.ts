import { describe, expect, it } from '@jest/globals';
import { reportOpenRuns } from '@sluice/run';
import { createMetrics, OpenRunLimit, TooManyRuns } from '@sluice/host';
import type { Runtime, RunWatch } from '@sluice/host';
import { StoredTexts } from './stored-texts.js';

type Expected = Parameters<RunWatch['expect']>[2];

/** A door under a limit, with what it would see on the log in our hands. */
function door({ documents, limit = 2 }: { readonly documents: StoredTexts; readonly limit?: number }) {
  const now = 1_000_000;
  const seen = new Map<string, Expected>();
  const metrics = createMetrics();
  const runtime = {
    clock: { now: () => now },
    documents,
    metrics,
    log: { warn: () => undefined },
    configurations: { current: () => ({ configuration: { limits: { openRuns: limit } } }) },
  } as unknown as Runtime;
  const watch = {
    expect: ({ requestId }: { readonly requestId: string }, _tenant: string, expected: Expected) => {
      seen.set(requestId, expected);
      return () => void seen.delete(requestId);
    },
  };
  const open = new OpenRunLimit(runtime, watch, 'http');
  return {
    seen,
    metrics,
    /** Another door, or this one after a restart. */
    another: () => door({ documents, limit }),
    now: () => now,
    begin: (requestId: string, tenant = 'acme') => open.admit({ requestId, sessionId: requestId, tenant }),
    call: (requestId: string) => open.admit({ requestId, sessionId: requestId, tenant: 'acme', isCall: true }),
  };
}

const pace = { everyMs: 0, keptMs: 0 };
const report = (documents: StoredTexts, at: number, tenants: Readonly<Record<string, number>>): Promise<void> =>
  reportOpenRuns(documents, { at, by: 'filter', tenants: new Map(Object.entries(tenants)) }, pace);

describe('the limit of open runs', () => {
  it('refuses a tenant’s next run, says so, counts it, and touches no other tenant', async () => {
    const { begin, metrics } = door({ documents: new StoredTexts() });
    await begin('one');
    await begin('two');
    await expect(begin('three')).rejects.toThrow(
      'The tenant has 2 open runs, and limits.open_runs permits 2. Try again when one of them has ended.',
    );
    await begin('three', 'globex');
    const [counted] = (await metrics.runsNotBegun.get()).values;
    expect([counted?.labels, counted?.value]).toEqual([{ door: 'http', tenant: 'acme' }, 1]);
  });

  it('admits another one once a run has ended, or was not published after all', async () => {
    const { begin, seen } = door({ documents: new StoredTexts() });
    const takeBack = await begin('one');
    await begin('two');
    takeBack();
    await begin('three');
    await expect(begin('four')).rejects.toThrow(TooManyRuns);
    seen.get('two')?.ended();
    await begin('four');
    await expect(begin('five')).rejects.toThrow(TooManyRuns);
  });

  it('admits no more of many that come at once', async () => {
    const { begin } = door({ documents: new StoredTexts(), limit: 5 });
    const admitted = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => begin(`run-${n}`)));
    expect(admitted.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('counts a call once: itself, until the filters report it, which see no Toolset of it', async () => {
    const documents = new StoredTexts();
    const first = door({ documents });
    await first.call('short');
    await first.call('long');
    first.seen.get('short')?.ended();
    // A report of before the filters look knows neither.
    await report(documents, first.now() + 1_000, {});
    const before = first.another();
    await before.begin('other');
    await first.begin('next');
    await expect(first.begin('more')).rejects.toThrow(TooManyRuns);
    first.seen.get('next')?.ended();
    await report(documents, first.now() + 3_001, { acme: 1 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    await first.begin('again');
    await expect(first.begin('more')).rejects.toThrow(TooManyRuns);
  });

  it('counts what filters report, after a start and for other doors, and each run once', async () => {
    const documents = new StoredTexts();
    const first = door({ documents, limit: 3 });
    await first.begin('one');
    first.seen.get('one')?.taken();
    await report(documents, first.now() + 1, { acme: 2, globex: 7 });
    const second = first.another();
    await second.begin('two');
    await expect(second.begin('three')).rejects.toThrow(TooManyRuns);
    await expect(second.begin('three', 'globex')).rejects.toThrow(TooManyRuns);
    await second.begin('three', 'other');
  });

  it.each([
    ['leaves a run to a report that is later than its first Toolset', 1, true],
    ['counts a run that was taken after the last report', -1, false],
  ])('%s', async (_, after, isAdmitted) => {
    const documents = new StoredTexts();
    const { begin, seen, now } = door({ documents, limit: 1 });
    await report(documents, now() + after, { acme: 0 });
    await begin('one');
    seen.get('one')?.taken();
    const second = begin('two');
    if (isAdmitted) await second;
    else await expect(second).rejects.toThrow(TooManyRuns);
  });

  it('counts a run that no filter takes until filters are five minutes further', async () => {
    const documents = new StoredTexts();
    const { begin, now } = door({ documents, limit: 1 });
    await report(documents, now() + 300_001, {});
    await begin('dropped as a duplicate');
    await begin('next');
  });

  it('is none with 0', async () => {
    const { begin } = door({ documents: new StoredTexts(), limit: 0 });
    for (let n = 0; n < 5; n++) await begin(`run-${n}`);
  });

  it('goes by the last count while the ledger is away', async () => {
    const documents = new StoredTexts();
    const { begin } = door({ documents, limit: 1 });
    documents.isAway = true;
    await begin('one');
    await expect(begin('two')).rejects.toThrow(TooManyRuns);
  });
});

describe('the report of open runs', () => {
  it('is written by one of several filters, again when it is old or counts have changed', async () => {
    const documents = new StoredTexts();
    const write = (by: string, at: number, open: number): Promise<void> =>
      reportOpenRuns(documents, { at, by, tenants: new Map([['acme', open]]) }, { everyMs: 500, keptMs: 5_000 });
    await write('one', 1_000, 3);
    await write('two', 1_100, 3);
    await write('two', 2_000, 3);
    expect(documents.written).toBe(1);
    await write('two', 2_000, 4);
    await write('two', 2_100, 5);
    expect(documents.written).toBe(3);
    await write('one', 7_200, 5);
    expect(documents.written).toBe(4);
  });

  it('names the thousand tenants with the most', async () => {
    const documents = new StoredTexts();
    const tenants = new Map(Array.from({ length: 1_500 }, (_, n) => [`t${n}`, n]));
    await reportOpenRuns(documents, { at: 1, by: 'one', tenants }, pace);
    const { tenants: named } = JSON.parse(documents.text) as { tenants: Record<string, number> };
    expect(Object.keys(named)).toHaveLength(1_000);
    expect(Math.min(...Object.values(named))).toBe(500);
  });
});
