import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SqliteBus } from '@sluice/bus';
import { createLog, dataFiles, openLedger, openLogFile, openRuntime, readEnvironment } from '@sluice/host';
import type { Environment } from '@sluice/host';
import { mismatch } from '../src/belonging.js';

const silent = createLog('silent');

describe('a log and a ledger that do not belong together', () => {
  let root: string;
  const environmentOf = (name: string): Environment =>
    readEnvironment({ SLUICE_DATA: join(root, name), SLUICE_PORT: '0' });
  /** What starting says; null if it goes well. */
  const start = async (name: string, work: (bus: SqliteBus) => Promise<unknown> = async () => null) => {
    try {
      const open = await openRuntime(environmentOf(name), silent);
      await work(open.runtime.bus as SqliteBus);
      await open.close();
      return null;
    } catch (error) {
      return error as { readonly code: string; readonly message: string };
    }
  };
  const worked = (name: string) =>
    start(name, async (bus) => bus.appendRaw('agent.toolsets', 's', Buffer.from('what a service writes')));
  const files = (name: string) => dataFiles(environmentOf(name));

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'sluice-belonging-'));
    expect([await worked('a'), await worked('b')]).toEqual([null, null]);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('are what they were while they are not changed, and after they were copied', async () => {
    cpSync(join(root, 'a'), join(root, 'copy'), { recursive: true });
    expect([await start('a'), await start('copy')]).toEqual([null, null]);
  });

  it('are refused where the ledger was emptied or removed, however often they are started', async () => {
    truncateSync(files('a').ledger, 0);
    for (const again of [1, 2])
      expect([again, await start('a')]).toEqual([
        again,
        expect.objectContaining({
          code: 'ledger_unreachable',
          message: `The ledger ${files('a').ledger} is empty, though services have worked on the log ${files('a').log}: it was emptied, or is another one than before. Put the ledger of this log back. To go on as it is, run “sluice ledger adopt”: then what was under way may be done twice.`,
        }),
      ]);
    rmSync(files('b').ledger);
    expect(await start('b')).toMatchObject({ message: expect.stringContaining('is empty, though services') });
  });

  it('are refused where the log was emptied', async () => {
    writeFileSync(files('a').log, '');
    expect(await start('a')).toMatchObject({
      message: expect.stringMatching(/^The log .*a\/log\.sqlite is empty, though the ledger .* belongs to one/),
    });
  });

  it('are refused where the ledger is that of another folder, until both are back', async () => {
    const kept = join(root, 'kept.sqlite');
    cpSync(files('a').ledger, kept);
    cpSync(files('b').ledger, files('a').ledger);
    expect(await start('a')).toMatchObject({ message: expect.stringContaining('belongs to another log than') });
    cpSync(kept, files('a').ledger);
    expect(await start('a')).toBeNull();
  });

  it('are refused where half of a file is missing', async () => {
    for (const [file, noun] of [
      [files('a').ledger, 'ledger'],
      [files('b').log, 'log'],
    ] as const) {
      const { page_count: pages } = new DatabaseSync(file).prepare('PRAGMA page_count').get() as { page_count: number };
      truncateSync(file, Math.floor(pages / 2) * 4_096);
      expect(await start(noun === 'ledger' ? 'a' : 'b')).toMatchObject({
        message: expect.stringMatching(new RegExp(`^The ${noun} .* so its end is missing`)),
      });
    }
  });

  it('belong together from a former version’s on, which did not remember', async () => {
    const ledger = new DatabaseSync(files('a').ledger);
    ledger.exec('DROP TABLE belonging; DROP TABLE past_calls; PRAGMA user_version = 5');
    ledger.close();
    expect(await start('a')).toBeNull();
    const { ledger: opened } = await openLedger(environmentOf('a'), silent);
    const bus = await openLogFile(environmentOf('a'), silent);
    expect(await opened.belonging.find()).toBe((await bus.identity()).id);
    await opened.close();
    await bus.close();
  });
});

describe('what a ledger remembers of its log', () => {
  const names = { log: 'L', ledger: 'D' };
  it.each([
    ['nothing, and nobody has worked', null, false, null],
    ['nothing, though services have worked', null, true, /^The ledger D is empty, though/],
    ['nothing, as a former version', '', true, null],
    ['this one', 'x', true, null],
    ['another one that was used', 'y', true, /^The ledger D belongs to another log than L\. /],
    ['another one, and this one is empty', 'y', false, /^The log L is empty, though/],
  ])('%s', (_, remembered, used, says) => {
    const why = mismatch({ id: 'x', used }, remembered, names);
    if (says === null) expect(why).toBeNull();
    else expect(why).toMatch(says);
  });
});
