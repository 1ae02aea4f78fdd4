import { describe, expect, it } from '@jest/globals';
import { CallSecrets, NoticeGate } from '@sluice/core';
import type { CallNotice, JsonValue } from '@sluice/core';

const progress = (at: number, message = '', total: number | null = null): CallNotice => ({
  ...{ kind: 'progress', progress: at, total, message },
});
const log = (data: JsonValue, logger: string | null = null): CallNotice => ({
  ...{ kind: 'log', level: 'info', logger, data },
});

function gate(isOpen = true) {
  const clock = { now: 0 };
  const secrets = new CallSecrets();
  secrets.add(['hunter22']);
  return { clock, gate: new NoticeGate({ isOpen, now: () => clock.now, secrets }) };
}

describe('the notices of a call', () => {
  it('go on without the call’s credential, however deep it stands', () => {
    const open = gate().gate;
    expect(open.admit(progress(1, 'with hunter22'))).toEqual(progress(1, 'with [hidden]'));
    expect(open.admit(log({ hunter22: ['a hunter22'] }, 'hunter22'))).toEqual(
      log({ '[hidden]': ['a [hidden]'] }, '[hidden]'),
    );
  });

  it('are numbers alone where the results do not leave the tool whole', () => {
    const closed = gate(false).gate;
    expect(closed.admit(progress(1, 'words', 2))).toEqual(progress(1, '', 2));
    expect(closed.admit(log('words'))).toBeNull();
  });

  it('grow: what goes back, stays, or is no number is left out', () => {
    const open = gate().gate;
    const admitted = [1, 1, 0.5, Number.NaN, Infinity, 2].map((at) => open.admit(progress(at, '', Infinity)));
    expect(admitted).toEqual([progress(1), null, null, null, null, progress(2)]);
  });

  it('are twenty at once, ten more each second, and five thousand in all', () => {
    const { gate: open, clock } = gate();
    let at = 0;
    const admitted = (times: number): number =>
      Array.from({ length: times }, () => open.admit(progress(++at))).filter((one) => one !== null).length;
    expect(admitted(50)).toBe(20);
    clock.now += 1_000;
    expect(admitted(50)).toBe(10);
    // Log messages have an allowance of their own.
    expect(open.admit(log('still'))).toEqual(log('still'));
    for (let second = 0; second < 600; second++) {
      clock.now += 1_000;
      admitted(10);
    }
    clock.now += 10_000;
    expect(admitted(1)).toBe(0);
  });

  it('are no larger than a reader wants them', () => {
    const open = gate().gate;
    const long = open.admit(progress(1, 'é'.repeat(3_000)));
    expect(long?.kind === 'progress' && long.message).toMatch(/^é{1999}…$/);
    const large = open.admit(log('x'.repeat(10_000)));
    expect(large).toEqual(log('(a log message of more than 8192 bytes, which is not passed on)'));
    let deep: JsonValue = 'bottom';
    for (let level = 0; level < 200; level++) deep = [deep];
    expect(open.admit(log(deep))).toEqual(large);
  });
});
