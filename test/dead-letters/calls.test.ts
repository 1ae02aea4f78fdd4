import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { replayed } from '../replay/replaying.js';
import { eventually } from '../security/forging.js';
import { startDying } from './dying.js';
import type { Dying } from './dying.js';

describe('a dead letter of a call in one hop', () => {
  let dying: Dying;
  beforeAll(async () => {
    dying = await startDying();
  });
  afterAll(() => dying.close());

  const call = (id: string, question = id) => {
    const made = make.directCall({ tool: 'core__act', arguments: JSON.stringify({ run: id, n: 1 }) });
    const record = { ...newRequest(question, { requestId: id, sessionId: `session-of-${id}` }), call: made };
    return dying.bus.publish([{ topic: topics.calls, key: `session-of-${id}`, record }]);
  };

  it.each([
    ['its claim', 'request/'],
    ['its effect', 'effect/'],
    ['its end', 'end/'],
  ])(
    'whose ledger was away at %s: its run ends once more with a redrive, and the effect happened once',
    async (what, cut) => {
      const id = `away-at-${what.replace(' ', '-')}`;
      dying.cutLedger(cut);
      await call(id);
      const end = await dying.end(id);
      expect(end).toMatchObject({ kind: 'error', error: { code: 'dead_lettered' }, run: null });
      dying.mend();
      const letter = await dying.letterOf(id);
      const shown = await dying.command('show', letter);
      expect(shown.output).toMatch(/agent\.calls[^]*ledger_unreachable: /);
      const listed = await dying.command('list', '--topic', 'agent.calls', '--code', 'ledger_unreachable');
      expect(listed.output).toContain(letter);

      const redriven = await dying.command('redrive', letter);
      expect(redriven.output).toContain(`${letter}: goes to agent.calls: the run begins again`);
      const again = await dying.end(id, 2);
      expect(again).toMatchObject({ kind: 'answer', run: { redrive: letter } });
      expect(dying.effects.get(`${id}/1`)).toBe(1);
      expect((await dying.command('redrive', letter)).code).toBe(1);
      expect(await dying.responses(id)).toHaveLength(2);
    },
  );

  it('replays to the byte, with the attempt that its redrive made', async () => {
    const decisions = await replayed(dying.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    const kinds = decisions.filter(({ requestId }) => requestId === 'away-at-its-effect').map(({ kind }) => kind);
    expect(kinds).toEqual(['steps', 'end', 'end']);
  });

  it('that is not valid, or cannot be read, ends its run with the reason', async () => {
    await call('empty', ' ');
    expect(await dying.end('empty')).toMatchObject({ error: { code: 'invalid_request' } });
    expect((await dying.command('redrive', await dying.letterOf('empty'))).output).toContain('Its question is empty');
    await dying.bus.appendRaw(topics.calls, 'session-of-odd', Buffer.from('{"request_id":"odd","call":7}'), {});
    expect(await dying.end('odd')).toMatchObject({ error: { code: 'invalid_request' } });
    await dying.bus.publish([
      {
        topic: topics.calls,
        key: 's',
        record: newRequest('None', { requestId: 'none', sessionId: 'session-of-none' }),
      },
    ]);
    expect(await dying.end('none')).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringContaining('makes no call') },
    });
    // What comes later under such an id is no run.
    await call('empty');
    await call('last');
    await dying.end('last');
    expect(await dying.responses('empty')).toHaveLength(1);
    expect(dying.effects.has('empty/1')).toBe(false);
  });
});

describe('a dead letter of a call whose caller has a credential', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  let dying: Dying;
  let authorization: string;
  beforeAll(async () => {
    const users = await newIssuer();
    const key_file = join(folder, 'issuer.pem');
    writeFileSync(key_file, users.pem);
    dying = await startDying({ identity: { provider: 'jwt', key_file, issuer, audience } });
    authorization = `Bearer ${await users.token({ sub: 'ann', tool_groups: ['*'] })}`;
  });
  afterAll(async () => {
    await dying.close();
    rmSync(folder, { recursive: true });
  });

  /** A call that dies where the ledger is away, and its letter once the ledger is back. */
  const letterOf = async (id: string, cut: string, ids: object = { requestId: id }): Promise<string> => {
    dying.cutLedger(cut);
    const made = make.directCall({ tool: 'core__act', arguments: JSON.stringify({ run: id, n: 1 }) });
    const record = make.agentRequest({ question: id, group: ['*'], call: made, ...ids });
    await dying.bus.publish([{ topic: topics.calls, key: `session-of-${id}`, record, headers: { authorization } }]);
    const letter = await dying.letterOf(id);
    dying.mend();
    return letter;
  };
  const end = async (letter: string) => {
    const all = await dying.all(topics.responses);
    return all.map(({ record }) => record).find(({ run }) => run?.redrive === letter);
  };

  it.each([
    ['its effect', 'effect/', undefined],
    ['its end', 'end/', undefined],
    ['its end, without a request_id', 'end/', {}],
  ])('and that began to act is re-driven as its caller’s: away at %s', async (what, cut, ids) => {
    const id = `ann-${what.replaceAll(/[ ,]/g, '-')}`;
    const letter = await letterOf(id, cut, ids);
    expect((await dying.command('redrive', letter)).output).toContain(`${letter}: goes to agent.calls`);
    const again = await eventually(() => end(letter));
    expect(again).toMatchObject({ kind: 'answer', run: { principal: { tenantId: 'acme', actorId: 'user:ann' } } });
    expect(dying.effects.get(`${id}/1`)).toBe(1);
    const steps = (await dying.all(topics.steps)).filter(({ record }) => record.run.redrive === letter);
    expect(steps.map(({ record }) => record.steps.map(({ outcome }) => outcome))).toEqual([['ok']]);
  });

  it('and that did nothing is not', async () => {
    const letter = await letterOf('idle', 'request/');
    expect((await dying.command('redrive', letter)).output).toContain('Its credential was not kept');
    expect(dying.effects.has('idle/1')).toBe(false);
  });
});
