import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Ledger } from '@sluice/core';
import { openSqliteLedger } from '@sluice/ledger';
import type { SqliteLedger } from '@sluice/ledger';
import { cancelOf, cancelRun } from '@sluice/run';

const clock = { now: () => 1_000 };
const ann = { tenantId: 'acme', actorId: 'user:ann', subjectId: null };
const run = { requestId: 'r-1', run: { principal: { ...ann, groups: [] }, parent: null } };

describe('the mark of a cancelled run', () => {
  let folder: string;
  let ledger: SqliteLedger;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-cancel-'));
    ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
  });
  afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const found = () => cancelOf(run as unknown as Parameters<typeof cancelOf>[0], { ledger, clock });

  it('counts once its reason is written, also where an instance of a former version died before it wrote that', async () => {
    const died = new Error('It died.');
    const former: Pick<Ledger, 'claim' | 'find' | 'settle'> = {
      claim: ({ value: _, ...claim }) => ledger.claim(claim),
      find: (key) => ledger.find(key),
      settle: () => Promise.reject(died),
    };
    await expect(cancelRun('r-1', ann, 'Wrong question.', { ledger: former as Ledger, clock })).rejects.toThrow(died);
    expect(await found()).toBeNull();
    await cancelRun('r-1', ann, 'Wrong question.', { ledger, clock });
    expect(await found()).toEqual({ message: 'The run was cancelled by its caller: Wrong question.' });
  });

  it('is of its caller’s run alone, and needs no reason', async () => {
    await cancelRun('r-1', { ...ann, actorId: 'user:eve' }, 'Mine now.', { ledger, clock });
    expect(await found()).toBeNull();
    await cancelRun('r-1', ann, '', { ledger, clock });
    expect(await found()).toEqual({ message: 'The run was cancelled by its caller.' });
  });
});
