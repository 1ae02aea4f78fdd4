import { describe, expect, it } from '@jest/globals';
import { openPostgresLedger } from '@sluice/ledger';
import { createLog, createMetrics } from '@sluice/host';
import { ClockWatch } from '../src/clock-watch.js';
import { infra } from '../../../test/infra/client.ts';
import { freshDatabase } from '../../../test/infra/fresh.ts';

function watch() {
  const lines: { level: number; msg: string }[] = [];
  const metrics = createMetrics();
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as { level: number; msg: string }) };
  const clocks = new ClockWatch({ log: createLog('info', destination), metrics });
  const skew = async (): Promise<number | undefined> => (await metrics.clockSkew.get()).values[0]?.value;
  return { clocks, said: () => lines.map(({ level, msg }) => `${level} ${msg}`), skew };
}

const noon = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number): number => noon + seconds * 1_000;
const time = (there: number, asked: number, answered = asked) => ({
  there: at(there),
  asked: at(asked),
  answered: at(answered),
});

describe('the clock of a machine beside that of the ledger’s database', () => {
  it.each([
    [-3_600_000, /it is \d+ s behind/, /it is \d+ s behind/],
    [-20_000, /it is \d+ s behind/, null],
    [0, null, null],
    [20_000, /it is \d+ s ahead/, null],
    [3_600_000, /it is \d+ s ahead/, /it is \d+ s ahead/],
  ])('is off by %d ms: said once, and not ready where promises hang on it', async (offset, warning, reason) => {
    const { url, drop } = await freshDatabase((await infra('postgres')).databaseUrl);
    const ledger = await openPostgresLedger({ url, instance: 'a', clock: { now: () => Date.now() + offset } });
    try {
      const { clocks, said, skew } = watch();
      clocks.note(await ledger.check());
      const last = await ledger.check();
      clocks.note(last);
      expect(said()).toEqual(warning === null ? [] : [expect.stringMatching(warning)]);
      // The answer's journey is taken off, never added.
      const found = Math.abs(((await skew()) ?? NaN) * 1_000);
      expect(found).toBeLessThanOrEqual(Math.abs(offset));
      expect(found).toBeGreaterThanOrEqual(Math.abs(offset) - (last.answered - last.asked) - 1);
      if (reason === null) await expect(clocks.check()).resolves.toBeUndefined();
      else await expect(clocks.check()).rejects.toThrow(reason);
    } finally {
      await ledger.close();
      await drop();
    }
  });

  it('is named with the other time and with what to do; that it is right again is said too', async () => {
    const { clocks, said, skew } = watch();
    clocks.note(time(0, 99, 101));
    expect(await skew()).toBe(99);
    const sentence =
      'The clock of this machine says 2026-01-01T12:01:40.000Z and that of the ledger’s database 2026-01-01T12:00:00.000Z: it is 99 s ahead. Let both follow the same time server (NTP), as all machines of the installation must.';
    await expect(clocks.check()).rejects.toThrow(sentence);
    clocks.note(time(0, 0));
    await clocks.check();
    expect(said()).toEqual([`40 ${sentence}`, '30 the clocks of this machine and of the database agree again']);
  });

  it('is not blamed for an answer that took long', async () => {
    const { clocks, said, skew } = watch();
    clocks.note(time(100, 0, 100));
    clocks.note(time(0, 0, 100));
    expect(said()).toEqual([]);
    expect(await skew()).toBe(0);
    clocks.note(time(190, 0, 100));
    expect(await skew()).toBe(-90);
    await expect(clocks.check()).rejects.toThrow(/90 s behind/);
  });
});
