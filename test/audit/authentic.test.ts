import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { createSignatures, readKeySet, rotate } from '@sluice/identity';
import { replaceKeyFile } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { startAudit } from '../../apps/audit/src/audit.module.js';
import { startDying } from '../dead-letters/dying.js';
import type { Dying } from '../dead-letters/dying.js';
import { caughtUp, entries } from './auditing.js';
import type { Entry } from './auditing.js';

describe('a genuine record is recorded as authentic', () => {
  let dying: Dying;
  let audit: Service | undefined;
  beforeEach(async () => void (dying = await startDying()));
  afterEach(async () => {
    await audit?.close();
    audit = undefined;
    await dying.close();
  });

  /** What an audit that begins now tells of records that somebody signs. */
  async function told(runtime: Runtime): Promise<readonly Entry[]> {
    audit = await startAudit(runtime);
    await caughtUp(dying.bus, runtime.signatures);
    return (await entries(dying.bus)).filter(({ details }) => 'authentic' in details);
  }
  const forgeNext = async (isIt: (steps: number) => boolean) => {
    const found = (await dying.all(topics.steps)).find(({ record }) => isIt(record.steps.length));
    if (found === undefined) throw new Error('There is no such record.');
    const { key, record } = found;
    const next = { ...record.next, question: 'Another one' };
    await dying.bus.publish([{ topic: topics.steps, key, record: { ...record, next } }]);
    return (await dying.all(topics.steps)).at(-1)?.offset;
  };
  const notAuthentic = (all: readonly Entry[]) =>
    new Set(all.filter(({ details }) => details['authentic'] !== true).map(({ sourceOffset }) => sourceOffset));

  it('though the keys of filter and executor have been rotated twice since', async () => {
    await dying.publish('old');
    await dying.end('old');
    const forged = await forgeNext((steps) => steps > 0);
    const file = join(dying.folder, 'keys.json');
    const now = Date.now();
    const keys = rotate(rotate(readKeySet(readFileSync(file, 'utf8'), file), now), now);
    replaceKeyFile(file, keys);
    const all = await told({ ...dying.runtime, signatures: createSignatures(keys) });
    expect(new Set(all.map(({ sourceTopic }) => sourceTopic))).toEqual(
      new Set([topics.config, topics.toolsets, topics.toolCalls, topics.steps]),
    );
    expect(notAuthentic(all)).toEqual(new Set([forged]));
  });

  it('where an operator had a turn sent back to the filter', async () => {
    dying.cutModel();
    await dying.publish('returned');
    await dying.end('returned');
    dying.mend();
    await dying.command('redrive', await dying.letterOf('returned'));
    expect(await dying.end('returned', 2)).toMatchObject({ kind: 'answer' });
    const forged = await forgeNext((steps) => steps === 0);
    const all = await told(dying.runtime);
    const returned = all.filter(({ kind }) => kind === 'turn_without_calls');
    const whose = { actor: 'user:local', subject: null, tenant: 'local' };
    expect(returned.map(({ details }) => details)).toEqual([
      { ...whose, authentic: true, iteration: 1 },
      { ...whose, authentic: false, iteration: 1 },
    ]);
    expect(notAuthentic(all)).toEqual(new Set([forged]));
  });
});
