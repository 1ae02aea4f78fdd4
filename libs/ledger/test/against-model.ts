import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Claim, ClaimRequest, Ledger } from '@sluice/core';

/** What one of several owners asks of the ledger. `now` is the asker's own clock, which may be behind another's. */
type Act =
  | {
      readonly act: 'claim';
      readonly key: string;
      readonly owner: string;
      readonly now: number;
      readonly ttlMs: number;
      readonly value: string | null;
    }
  | { readonly act: 'complete'; readonly key: string; readonly owner: string; readonly value: string }
  | { readonly act: 'release'; readonly key: string; readonly owner: string }
  | { readonly act: 'sweep'; readonly now: number }
  | { readonly act: 'find'; readonly key: string };

/** The claims there are. */
type Model = ReadonlyMap<string, Claim>;
type Answer = Claim | boolean | number | 'refused' | undefined;

/** The whole of what a ledger is: what it answers, and what there is afterwards. A sweep leaves the keys of `busy`. */
function apply(model: Model, act: Act, busy: readonly string[] = []): readonly [Model, Answer] {
  if (act.act === 'sweep') {
    const left = new Map([...model].filter(([key, { expiresAt }]) => expiresAt > act.now || busy.includes(key)));
    return [left, model.size - left.size];
  }
  const first = model.get(act.key);
  switch (act.act) {
    case 'claim': {
      if (first !== undefined && first.expiresAt > act.now) return [model, first];
      const { key, owner, now, ttlMs, value } = act;
      const claim = { key, owner, value, claimedAt: now, expiresAt: now + ttlMs };
      return [new Map(model).set(key, claim), claim];
    }
    case 'complete': {
      if (first?.owner !== act.owner) return [model, 'refused'];
      const claim = { ...first, value: first.value ?? act.value };
      return [new Map(model).set(act.key, claim), claim];
    }
    case 'release': {
      if (first?.owner !== act.owner || first.value !== null) return [model, false];
      const left = new Map(model);
      left.delete(act.key);
      return [left, true];
    }
    case 'find':
      return [model, first];
  }
}

function claimRequestOf({ key, owner, now, ttlMs, value }: Act & { readonly act: 'claim' }): ClaimRequest {
  return { key, owner, now, ttlMs, ...(value === null ? {} : { value }) };
}

async function ask(ledger: Ledger, act: Act): Promise<Answer> {
  switch (act.act) {
    case 'claim':
      return ledger.claim(claimRequestOf(act));
    case 'complete':
      return ledger.settle(act.key, act.owner, act.value).catch((error: Error) => {
        expect(error.message).toMatch(/cannot be written/);
        return 'refused';
      });
    case 'release':
      return ledger.release(act.key, act.owner);
    case 'sweep':
      return ledger.sweep(act.now);
    case 'find':
      return ledger.find(act.key);
  }
}

interface Asked {
  readonly act: Act;
  readonly answer: Answer;
}

/**
 * Every state that one after another, in whichever order, could have led to with these answers; none if no order
 * explains them. A sweep may leave to the next one what is written at the same time, and nothing else.
 */
function explained(model: Model, asked: readonly Asked[], written = keysWritten(asked)): readonly Model[] {
  if (asked.length === 0) return [model];
  return asked.flatMap(({ act, answer }, index) =>
    (act.act === 'sweep' ? subsets(written) : [[]]).flatMap((busy) => {
      const [next, expected] = apply(model, act, busy);
      if (text(expected) !== text(answer)) return [];
      return explained(next, asked.toSpliced(index, 1), written);
    }),
  );
}

function keysWritten(asked: readonly Asked[]): readonly string[] {
  return [...new Set(asked.flatMap(({ act }) => (act.act === 'sweep' || act.act === 'find' ? [] : [act.key])))];
}

function subsets<Of>([first, ...rest]: readonly Of[]): readonly (readonly Of[])[] {
  if (first === undefined) return [[]];
  return subsets(rest).flatMap((subset) => [subset, [first, ...subset]]);
}

/** The same for the same, in whichever order its parts stand. */
function text(of: Answer | Model): string {
  if (of instanceof Map) return JSON.stringify([...of.values()].map(text).sort());
  return JSON.stringify(of, typeof of === 'object' ? ['key', 'owner', 'value', 'claimedAt', 'expiresAt'] : null) ?? '';
}

const key = fc.constantFrom('x', 'y');
const owner = fc.constantFrom('a', 'b', 'c');
/** Time goes in steps, so that claims expire in just the moment in which somebody asks. */
const stepMs = 250;
/** How far an asker's clock is behind, and how long a claim holds. */
const behind = fc.constantFrom(0, 0, stepMs);
const ttlMs = fc.constantFrom(2 * stepMs, 4 * stepMs);

/** What is claimed has its outcome at once, now and then. */
const value = fc.option(fc.constantFrom('1', '2'), { freq: 1 });

const wanted = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('claim' as const), key, owner, behind, ttlMs, value }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('complete' as const), key, owner, value: fc.string() }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('release' as const), key, owner }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('sweep' as const), behind }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('find' as const), key }) },
);

/** Time passes, and then these are asked at once. */
const turns = fc.array(fc.record({ steps: fc.nat(3), wanted: fc.array(wanted, { minLength: 1, maxLength: 4 }) }), {
  maxLength: 15,
});

/**
 * Any history, each of whose turns is asked at once through two processes' connections, is answered as if one after
 * another had been asked.
 */
export function againstModel(ledger: Ledger, other: Ledger): Promise<void> {
  return fc.assert(
    fc.asyncProperty(turns, async (history) => {
      await ledger.sweep(Number.MAX_SAFE_INTEGER);
      let [now, possible]: [number, readonly Model[]] = [1_000, [new Map()]];
      for (const turn of history) {
        now += turn.steps * stepMs;
        const acts = turn.wanted.map((one): Act => ('behind' in one ? { ...one, now: now - one.behind } : one));
        const asked = await Promise.all(
          acts.map(async (act, index) => ({ act, answer: await ask(index % 2 === 0 ? ledger : other, act) })),
        );
        const next = possible.flatMap((model) => explained(model, asked));
        if (next.length === 0) expect(asked).toEqual(`what some order gives after ${possible.map(text).join(' or ')}`);
        possible = [...new Map(next.map((model) => [text(model), model])).values()];
      }
      const found = await Promise.all(['x', 'y'].map((name) => other.find(name)));
      const left = text(new Map(found.flatMap((claim) => (claim === undefined ? [] : [[claim.key, claim]]))));
      expect(possible.map(text)).toContain(left);
    }),
    { numRuns: 100 },
  );
}
