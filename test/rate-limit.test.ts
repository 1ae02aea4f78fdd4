import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Fault, withinRate } from '@sluice/core';
import type { RateCounting, ToolEffect, ToolInvocation } from '@sluice/core';
import { openSqliteLedger } from '@sluice/ledger';
import type { SqliteLedger } from '@sluice/ledger';

describe('a limit per minute (M-81, XB-32)', () => {
  let folder: string;
  let ledger: SqliteLedger;
  let now: number;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-rate-'));
    ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
    now = Date.now();
  });
  afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const counting = (): RateCounting => ({ rates: ledger, ledger, clock: { now: () => now }, owner: 'o' });
  const invocation = (callKey: string, tenantId = 't'): Pick<ToolInvocation, 'callKey' | 'context'> => ({
    callKey,
    context: { runId: 'r', sessionId: 's', toolCallId: 'c', actorId: 'user:u', tenantId },
  });
  const call = (
    callKey: string,
    limit: number | null = 2,
    given: { tenant?: string; id?: string; effect?: ToolEffect } = {},
  ) =>
    withinRate(
      { id: given.id ?? 'core__x', effect: given.effect ?? 'external_side_effect' },
      invocation(callKey, given.tenant),
      limit,
      counting(),
    );
  const refused = {
    ok: false,
    code: 'unavailable',
    reason: 'rate_limited',
    message: expect.stringMatching(/core__x may be called 2 times a minute.*Try again in \d+ s/),
  };

  it('refuses the call beyond it with the time to wait, and claims nothing for it', async () => {
    expect(await call('1')).toEqual({ ok: true });
    expect(await call('2')).toEqual({ ok: true });
    expect(await call('3')).toEqual(refused);
    expect(await ledger.find('3')).toBeUndefined();
    expect(await ledger.find('counted/3')).toBeUndefined();
  });

  it('counts each tenant and each tool for itself', async () => {
    for (const key of ['1', '2', '3']) await call(key);
    expect(await call('4', 2, { tenant: 'u' })).toEqual({ ok: true });
    expect(await call('5', 2, { id: 'core__y' })).toEqual({ ok: true });
    expect(await call('6')).toEqual(refused);
  });

  it.each<ToolEffect>(['read_only', 'external_side_effect'])('counts a repeated record once (%s)', async (effect) => {
    for (let time = 0; time < 5; time++) expect(await call('1', 2, { effect })).toEqual({ ok: true });
    expect(await call('2', 2, { effect })).toEqual({ ok: true });
    expect(await call('3', 2, { effect })).toMatchObject({ ok: false });
    expect(await call('1', 2, { effect })).toEqual({ ok: true });
  });

  it('does not stand before the outcome of an effect that began earlier', async () => {
    await ledger.claim({ key: 'earlier', owner: 'a', now, ttlMs: 3_600_000 });
    for (const key of ['1', '2', '3']) await call(key);
    expect(await call('earlier')).toEqual({ ok: true });
  });

  it('asks no ledger where there is no limit', async () => {
    await ledger.close();
    expect(await call('1', null)).toEqual({ ok: true });
  });

  it('lets no caller pass while the ledger is away: a fault, so that the record comes again', async () => {
    await ledger.close();
    await expect(call('1')).rejects.toBeInstanceOf(Fault);
  });
});
