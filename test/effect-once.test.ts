import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { begunBefore, effectOnce } from '@sluice/core';
import type { BoundTool, EffectClaims, Ledger, Reconciliation, ToolExecResult, ToolInvocation } from '@sluice/core';
import { openSqliteLedger } from '@sluice/ledger';

type Kind = Pick<BoundTool, 'effect' | 'repeatable'>;
const readOnly: Kind = { effect: 'read_only', repeatable: true };
const repeatable: Kind = { effect: 'state_change', repeatable: true };
const once: Kind = { effect: 'external_side_effect', repeatable: false };

describe('an effect', () => {
  let folder: string;
  let ledger: Ledger;
  let effects: number;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-effect-'));
    ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
    effects = 0;
  });
  afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (callKey = 'k', timeoutMs = 150): ToolInvocation => ({
    toolId: 't',
    args: {},
    argumentBytes: 2,
    context: { runId: 'r', sessionId: 's', toolCallId: `c-${callKey}`, actorId: 'user:u', tenantId: 't' },
    callKey,
    timeoutMs,
    signal: new AbortController().signal,
  });

  const claimsOf = (owner: string, changes: Partial<EffectClaims> = {}): EffectClaims => ({
    ledger,
    clock: { now: () => Date.now() },
    owner,
    retentionMs: 60_000,
    isAgain: false,
    sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
    onUnsettled: (_, error) => {
      throw error;
    },
    ...changes,
  });

  const effect = async (): Promise<ToolExecResult> => {
    effects++;
    await sleep(20);
    return { toolCallId: 'of-the-first', ok: true, value: effects };
  };

  const cannotSay = async (): Promise<Reconciliation> => 'unknown';

  const run = (kind: Kind, owner: string, claims = claimsOf(owner), invocation = call()) =>
    effectOnce(kind as BoundTool, invocation, claims, effect, cannotSay);

  it('that another attempt could not begin, and gave back, is made by the one who waits', async () => {
    const unavailable = { toolCallId: 'c', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' } as const;
    const away = async (): Promise<ToolExecResult> => {
      await sleep(60);
      return unavailable;
    };
    const first = effectOnce(once as BoundTool, call(), claimsOf('a'), away, cannotSay);
    await sleep(20);
    const second = run(once, 'b', undefined, call('k', 5_000));
    expect(await first).toEqual(unavailable);
    expect(await second).toMatchObject({ ok: true, value: 1 });
    expect(await ledger.find('k')).toMatchObject({ owner: 'b', value: expect.stringContaining('"ok":true') });
  });

  describe('of a call that is refused now', () => {
    const before = (changes: Partial<EffectClaims> = {}, invocation = call()) =>
      begunBefore(invocation, claimsOf('b', changes));

    it('has no outcome if it was not begun, or if what began was taken back', async () => {
      expect(await before()).toBeNull();
      const unavailable = { toolCallId: 'c', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' } as const;
      const away = async (): Promise<ToolExecResult> => {
        await sleep(60);
        return unavailable;
      };
      const first = effectOnce(once as BoundTool, call(), claimsOf('a'), away, cannotSay);
      await sleep(20);
      expect(await before({}, call('k', 5_000))).toBeNull();
      await first;
      expect(await before()).toBeNull();
    });

    it('has the outcome of the attempt that began it, and its time, which are waited for', async () => {
      const began = Date.now();
      const first = run(once, 'a', undefined, call('k', 5_000));
      await sleep(5);
      const told = await before({}, call('k', 5_000));
      expect(told?.result).toEqual({ ...((await first) as ToolExecResult), toolCallId: 'c-k' });
      expect(told?.startedAtMs).toBeGreaterThanOrEqual(began);
      expect(told?.startedAtMs).toBeLessThan(began + 1_000);
      expect(effects).toBe(1);
    });

    it('is not known if the attempt never ended, though it may be repeated: refused, it cannot be', async () => {
      for (const kind of [once, repeatable]) {
        const died = new Error('It died.');
        const dying = (): Promise<never> => Promise.reject(died);
        const dies = effectOnce(kind as BoundTool, call(`of-${kind.effect}`), claimsOf('a'), dying, cannotSay);
        await expect(dies).rejects.toThrow(died);
        const told = await before({}, call(`of-${kind.effect}`));
        expect(told?.result).toMatchObject({ ok: false, reason: 'outcome_unknown' });
      }
    });

    it('has none if its claim is forgotten, or is this attempt’s own', async () => {
      await run(once, 'a');
      expect(await before({ clock: { now: () => Date.now() + 120_000 } })).toBeNull();
      expect(await before({ owner: 'a' })).toBeNull();
    });
  });

  it('that only reads needs no claim', async () => {
    await run(readOnly, 'a');
    await run(readOnly, 'b');
    expect(effects).toBe(2);
    expect(await ledger.find('k')).toBeUndefined();
  });

  it('happens once, however many attempts meet; all get the first one’s outcome, each under its own call id', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => run(once, `owner-${n}`, undefined, call('k', 60_000))),
    );
    expect(effects).toBe(1);
    for (const result of results) expect(result).toMatchObject({ ok: true, value: 1 });
    expect(await run(once, 'later')).toEqual({ toolCallId: 'c-k', ok: true, value: 1 });
  });

  it('that began and never ended is not repeated: outcome_unknown, after the tool’s time limit', async () => {
    await ledger.claim({ key: 'k', owner: 'dead', now: Date.now(), ttlMs: 60_000 });
    const start = Date.now();
    expect(await run(once, 'b')).toMatchObject({ ok: false, errorCode: 'execution', reason: 'outcome_unknown' });
    expect(Date.now() - start).toBeGreaterThanOrEqual(100);
    expect(effects).toBe(0);
  });

  it('that began and never ended is repeated where that is safe', async () => {
    await ledger.claim({ key: 'k', owner: 'dead', now: Date.now(), ttlMs: 60_000 });
    expect(await run(repeatable, 'b')).toMatchObject({ ok: true });
    expect(effects).toBe(1);
  });

  it('whose outcome arrives while another waits gives that outcome', async () => {
    await ledger.claim({ key: 'k', owner: 'slow', now: Date.now(), ttlMs: 60_000 });
    const waiting = run(once, 'b', claimsOf('b'), call('k', 5_000));
    await sleep(60);
    await ledger.settle('k', 'slow', JSON.stringify({ toolCallId: 'x', ok: true, value: 'late' }));
    expect(await waiting).toEqual({ toolCallId: 'c-k', ok: true, value: 'late' });
    expect(effects).toBe(0);
  });

  it('that is known not to have begun gives its claim back', async () => {
    const away = (): Promise<ToolExecResult> =>
      Promise.resolve({ toolCallId: 'c', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' });
    await effectOnce(once as BoundTool, call(), claimsOf('a'), away, cannotSay);
    expect(await ledger.find('k')).toBeUndefined();
    expect(await run(once, 'b')).toMatchObject({ ok: true });
  });

  describe('behind a connection to its tool', () => {
    const away = { toolCallId: 'c-k', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' } as const;
    const connected = (): Promise<null> => Promise.resolve(null);
    const behind = (
      owner: string,
      connect: () => Promise<ToolExecResult | null>,
      changes: Partial<EffectClaims> = {},
    ) => effectOnce(once as BoundTool, call(), claimsOf(owner, changes), effect, cannotSay, connect);

    it('is made by the next attempt where the process ended while it connected', async () => {
      const connecting = new Promise<void>((begun) => {
        const forever = () => {
          begun();
          return new Promise<never>(() => undefined);
        };
        void behind('a', forever);
      });
      await connecting;
      expect(await ledger.find('k')).toBeUndefined();
      expect(await behind('b', connected, { isAgain: true })).toMatchObject({ ok: true, value: 1 });
    });

    it('fails without a claim where its tool is away, and counts as a call that ended', async () => {
      const ends: string[] = [];
      const claim = () => Promise.reject(new Error('It is claimed.'));
      const countEnd = async (end: string): Promise<void> => void ends.push(end);
      const without: Ledger = Object.assign(Object.create(ledger) as Ledger, { claim });
      expect(await behind('a', () => Promise.resolve(away), { ledger: without, countEnd })).toEqual(away);
      expect([ends, effects]).toEqual([['none'], 0]);
      expect(await behind('b', connected)).toMatchObject({ ok: true, value: 1 });
    });

    it('has the outcome of an earlier attempt, and connects no more', async () => {
      await behind('a', connected);
      const connects = () => Promise.reject(new Error('It connects.'));
      expect(await behind('b', connects, { isAgain: true })).toMatchObject({ ok: true, value: 1 });
      // Where no attempt is known to have gone before, it connects, and the outcome counts all the same.
      expect(await behind('c', () => Promise.resolve(away))).toMatchObject({ ok: true, value: 1 });
      expect(effects).toBe(1);
    });

    it('is not connected to for ever where that ends the process each time', async () => {
      const dies = (owner: string): Promise<void> =>
        new Promise((begun) => {
          const forever = () => {
            begun();
            return new Promise<never>(() => undefined);
          };
          void behind(owner, forever, { isAgain: true });
        });
      for (const owner of ['a', 'b', 'c']) await dies(owner);
      expect(await behind('d', connected, { isAgain: true })).toMatchObject({ ok: false, reason: 'service_lost' });
      expect(effects).toBe(0);
    });
  });

  describe('whose end is not known, of a tool that can say whether it took effect', () => {
    const died = new Error('It died.');
    const happened = { toolCallId: 'c-k', ok: true, value: 'as it was' } as const;
    let asked = 0;
    const says = (answer: Reconciliation) => async (): Promise<Reconciliation> => {
      asked++;
      return answer;
    };
    const lost = async (): Promise<ToolExecResult> => ({
      toolCallId: 'c-k',
      ok: false,
      errorCode: 'execution',
      reason: 'outcome_unknown',
      safeMessage: 'The tool’s process ended during the call.',
    });
    const longAgo = { now: () => Date.now() - 30_000 };
    const again = (owner: string, answer: Reconciliation) =>
      effectOnce(once as BoundTool, call('k', 10_000), claimsOf(owner), effect, says(answer));
    /** The attempt ended long ago, so that nobody waits for it, and each later attempt has time enough to end. */
    const crash = () => {
      const claims = { ...claimsOf('a'), clock: longAgo };
      return effectOnce(once as BoundTool, call('k'), claims, () => Promise.reject(died), cannotSay).catch(
        (error: unknown) => error,
      );
    };
    beforeEach(() => void (asked = 0));

    it('has the result that the tool gives, which is recorded, so that no later attempt asks again', async () => {
      expect(await crash()).toBe(died);
      expect(await again('b', happened)).toEqual(happened);
      expect(await again('c', 'unknown')).toEqual(happened);
      expect([asked, effects]).toEqual([1, 0]);
    });

    it('is made, once, where the tool says that it did not happen', async () => {
      expect(await crash()).toBe(died);
      const both = await Promise.all([again('b', 'did not happen'), again('c', 'did not happen')]);
      expect(both).toEqual([
        expect.objectContaining({ ok: true, value: 1 }),
        expect.objectContaining({ ok: true, value: 1 }),
      ]);
      expect(effects).toBe(1);
    });

    it('stays unknown where the tool cannot say, and may be asked again after a crash while it was asked', async () => {
      expect(await crash()).toBe(died);
      const dies = effectOnce(once as BoundTool, call('k', 30), claimsOf('b'), effect, () => Promise.reject(died));
      await expect(dies).rejects.toThrow(died);
      expect(await again('c', 'unknown')).toMatchObject({ ok: false, reason: 'outcome_unknown' });
      expect(await again('d', happened)).toEqual(happened);
      expect(effects).toBe(0);
    });

    it('is asked about as well when the call itself was lost', async () => {
      const run = (answer: Reconciliation, key: string) =>
        effectOnce(once as BoundTool, call(key), claimsOf('a'), lost, says(answer));
      expect(await run(happened, 'k1')).toEqual(happened);
      expect(await run('did not happen', 'k2')).toMatchObject({
        ok: false,
        errorCode: 'execution',
        reason: 'no_effect',
      });
      expect(await run('unknown', 'k3')).toMatchObject({ reason: 'outcome_unknown' });
      expect(await ledger.find('k2')).toMatchObject({ value: expect.stringContaining('no_effect') });
      expect(asked).toBe(3);
    });
  });

  describe('whose attempts end with their process, one after another', () => {
    /**
     * The process ends in the midst of the work, or of the question whether it happened: nothing behind it is ever
     * done. Resolves once it is there.
     */
    const dies = (kind: Kind, owner: string, { ask = cannotSay, isAgain = true, asking = false } = {}): Promise<void> =>
      new Promise((begun, failed) => {
        const forever = () => {
          begun();
          return new Promise<never>(() => undefined);
        };
        const claims = claimsOf(owner, { isAgain });
        void effectOnce(kind as BoundTool, call('k', 1), claims, forever, asking ? forever : ask).catch(failed);
      });
    const next = (kind: Kind, owner: string, ask = cannotSay) =>
      effectOnce(kind as BoundTool, call('k', 1), claimsOf(owner, { isAgain: true }), effect, ask);
    const deaths = async (kind: Kind, count: number, ask = cannotSay): Promise<void> => {
      for (let n = 1; n <= count; n++) await dies(kind, `dead-${n}`, { ask, isAgain: n > 1 });
    };

    it('is made again by the next attempts, and dead-lettered after the fourth', async () => {
      await deaths(readOnly, 3);
      expect(await next(readOnly, 'a')).toMatchObject({ ok: true, value: 1 });
      await dies(readOnly, 'dead-4');
      expect(await next(readOnly, 'b')).toMatchObject({ errorCode: 'execution', reason: 'service_lost' });
      expect(effects).toBe(1);
    });

    it('is of unknown outcome where it may be repeated and changes something', async () => {
      await deaths(repeatable, 4);
      expect(await next(repeatable, 'a')).toMatchObject({ errorCode: 'execution', reason: 'outcome_unknown' });
      expect(effects).toBe(0);
    });

    it('is dead-lettered as well where the tool says each time that it did not happen', async () => {
      const notYet = async (): Promise<Reconciliation> => 'did not happen';
      await deaths(once, 4, notYet);
      expect(await next(once, 'a', notYet)).toMatchObject({ errorCode: 'execution', reason: 'service_lost' });
      expect(effects).toBe(0);
    });

    it('is not reconciled for ever where reconciling ends the process', async () => {
      await dies(once, 'dead', { isAgain: false });
      for (const n of [1, 2, 3]) await dies(once, `asks-${n}`, { asking: true });
      let asked = 0;
      const counting = async (): Promise<Reconciliation> => (asked++, 'unknown');
      expect(await next(once, 'a', counting)).toMatchObject({ reason: 'outcome_unknown' });
      expect(asked).toBe(0);
    });

    it('does not count attempts that came to an end, in whatever way', async () => {
      const fails = (): Promise<never> => Promise.reject(new Error('moved'));
      for (let n = 0; n < 6; n++)
        await expect(
          effectOnce(readOnly as BoundTool, call(), claimsOf(`o-${n}`, { isAgain: true }), fails, cannotSay),
        ).rejects.toThrow('moved');
      expect(await next(readOnly, 'a')).toMatchObject({ ok: true });
    });
  });

  it('does not begin while the ledger cannot be asked', async () => {
    const broken = { ...ledger, claim: () => Promise.reject(new Error('away')) } as Ledger;
    await expect(run(once, 'a', claimsOf('a', { ledger: broken }))).rejects.toThrow('away');
    expect(effects).toBe(0);
  });

  it('that happened is reported even if its outcome cannot be written down, and is not done again', async () => {
    const unsettled: string[] = [];
    const broken: Ledger = {
      claim: (request) => ledger.claim(request),
      find: (key) => ledger.find(key),
      settle: () => Promise.reject(new Error('away')),
      release: (key, owner) => ledger.release(key, owner),
      sweep: (now) => ledger.sweep(now),
      close: () => ledger.close(),
    };
    const claims = claimsOf('a', { ledger: broken, onUnsettled: (key) => unsettled.push(key) });
    expect(await run(once, 'a', claims)).toMatchObject({ ok: true, value: 1 });
    expect(unsettled).toEqual(['k']);
    expect(await run(once, 'b')).toMatchObject({ reason: 'outcome_unknown' });
    expect(effects).toBe(1);
  });

  it('stops waiting when the record is abandoned', async () => {
    await ledger.claim({ key: 'k', owner: 'dead', now: Date.now(), ttlMs: 60_000 });
    const given = new AbortController();
    const waiting = run(once, 'b', claimsOf('b'), { ...call('k', 10_000), signal: given.signal });
    setTimeout(() => given.abort(new Error('moved')), 30);
    await expect(waiting).rejects.toThrow();
  });

  describe('that waits for its caller in between', () => {
    /** Ends an attempt as kill -9 does: at its nth access to the ledger, before or behind what that writes. */
    class Killed extends Error {}

    function killing(at: number): Ledger {
      let count = 0;
      const reached = (): void => {
        if (count++ === at) throw new Killed();
      };
      const around = async <T>(work: () => Promise<T>): Promise<T> => {
        reached();
        const done = await work();
        reached();
        return done;
      };
      return {
        claim: (request) => around(() => ledger.claim(request)),
        settle: (...given) => around(() => ledger.settle(...given)),
        release: (...given) => around(() => ledger.release(...given)),
        find: (key) => around(() => ledger.find(key)),
        sweep: (now) => ledger.sweep(now),
        close: () => Promise.resolve(),
      };
    }

    /** Goes through three rounds, the first attempt of the given one killed there; what was sent, and the result. */
    async function through(killedIn: number, at: number) {
      const invocation = call(`rounds-${killedIn}-${at}`, 10);
      const sent: number[] = [];
      let isKilled = false;
      for (let round = 1, attempt = 0; ; attempt++) {
        const send = async (): Promise<ToolExecResult | 'waits'> => {
          sent.push(round);
          return round < 3 ? 'waits' : { toolCallId: 'c', ok: true, value: 'done' };
        };
        const isToKill: boolean = round === killedIn && !isKilled;
        isKilled ||= isToKill;
        const claims = claimsOf(`attempt-${attempt}`, {
          ...{
            round,
            isAgain: attempt > 0,
            onUnsettled: (_, error) => {
              throw error;
            },
          },
          ...(isToKill ? { ledger: killing(at) } : {}),
        });
        try {
          const end = await effectOnce(once as BoundTool, invocation, claims, send, cannotSay);
          if (end !== 'waits') return { sent, end, isKilled };
          round++;
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }
    }

    it.each([1, 2, 3])('sends each round once, wherever an attempt at round %i ends', async (killedIn) => {
      const ends = [];
      for (let at = 0; at < 12; at++) {
        const { sent, end } = await through(killedIn, at);
        expect([...new Set(sent)]).toEqual(sent);
        if (end.ok) expect(sent).toEqual([1, 2, 3]);
        else expect(end).toMatchObject({ reason: 'outcome_unknown' });
        ends.push(end.ok);
      }
      expect(new Set(ends).size).toBe(2);
    });

    it('and is refused then, has no known outcome, since what was sent may have had an effect', async () => {
      const waits = () => Promise.resolve('waits' as const);
      const invocation = call('left', 10);
      expect(await effectOnce(once as BoundTool, invocation, claimsOf('a'), waits, cannotSay)).toBe('waits');
      const before = await begunBefore(invocation, claimsOf('b', { round: 2 }));
      expect(before?.result).toMatchObject({ ok: false, reason: 'outcome_unknown' });
      const settled = claimsOf('b', { round: 2 });
      await effectOnce(once as BoundTool, invocation, settled, effect, cannotSay);
      expect((await begunBefore(invocation, claimsOf('c', { round: 2 })))?.result).toMatchObject({ ok: true });
    });
  });
});
