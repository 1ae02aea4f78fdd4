import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { Fault } from '@sluice/core';
import { askingFrom } from '../../apps/sluice/src/load/asking.js';
import { Latencies } from '../../apps/sluice/src/load/latencies.js';
import { readMix } from '../../apps/sluice/src/load/mix.js';
import { publishPatiently } from '../../apps/sluice/src/load/patient.js';
import { projectRoot } from '../harness/configurations.js';

const own = readMix(join(projectRoot, 'examples/load/mix.yaml'));
const drawn = (seed: number, count: number) => {
  const next = askingFrom(own, 'x', 20, seed);
  return Array.from({ length: count }, () => next());
};

describe('the requests that are drawn from a mix', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(drawn(7, 200)).toEqual(drawn(7, 200));
    expect(drawn(7, 200)).not.toEqual(drawn(8, 200));
  });

  it('come as often as their kinds weigh', () => {
    const asked = drawn(1, 20_000);
    const total = Object.values(own.kinds).reduce((sum, { weight }) => sum + weight, 0);
    for (const [kind, { weight }] of Object.entries(own.kinds)) {
      const share = asked.filter((one) => one.kind === kind).length / asked.length;
      expect(Math.abs(share - weight / total)).toBeLessThan(0.015);
    }
  });

  it('have ids of their own, a user that the kind allows, and that user’s sessions', () => {
    const asked = drawn(1, 1_000);
    expect(new Set(asked.map(({ request }) => request.requestId)).size).toBe(1_000);
    for (const { kind, user, request } of asked) {
      const { users, credential } = own.kinds[kind] as (typeof own.kinds)[string];
      if (credential === 'none') expect(user).toBeNull();
      else if (users !== undefined) expect(users).toContain(user);
      if (user !== null) expect(request.sessionId).toMatch(new RegExp(`^x-${user}-\\d+$`));
      expect(request.question).not.toContain('{n}');
    }
    expect(new Set(asked.map(({ request }) => request.sessionId)).size).toBeLessThanOrEqual(24);
  });
});

it('the mix of the incident desk asks for groups and states that its configuration has', () => {
  const { tool } = parse(readFileSync(join(projectRoot, 'examples/incident-desk/sluice.yaml'), 'utf8')) as {
    readonly tool: Readonly<Record<string, { group: string[]; available_in_states: string[] }>>;
  };
  const groups = new Set(Object.values(tool).flatMap(({ group }) => group));
  const states = new Set(Object.values(tool).flatMap((one) => one.available_in_states));
  const { kinds } = readMix(join(projectRoot, 'examples/incident-desk/mix.yaml'));
  for (const [kind, one] of Object.entries(kinds)) {
    expect([kind, one.groups?.filter((group) => !groups.has(group)) ?? []]).toEqual([kind, []]);
    expect([kind, states.has(one.state ?? 'undefined')]).toEqual([kind, true]);
  }
});

describe('latencies', () => {
  it('give quantiles that are right to 2 %', () => {
    const latencies = new Latencies();
    for (let ms = 1; ms <= 10_000; ms++) latencies.add(ms);
    for (const share of [0.1, 0.5, 0.9, 0.99])
      expect(Math.abs((latencies.quantile(share) ?? 0) / (share * 10_000) - 1)).toBeLessThan(0.021);
    expect([latencies.count, latencies.max]).toEqual([10_000, 10_000]);
  });

  it('are not there while nothing has ended', () => expect(new Latencies().quantile(0.5)).toBeNull());
});

describe('a mix with mistakes', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-mix-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['a key that there is not', 'kinds: { a: { weight: 1, questions: [x], often: 3 } }', 'kinds.a: Unrecognized key'],
    ['a weight of 0', 'kinds: { a: { weight: 0, questions: [x] } }', 'kinds.a.weight: Too small'],
    ['no question', 'kinds: { a: { weight: 1, questions: [] } }', 'kinds.a.questions: Too small'],
    [
      'a user that there is not',
      'users: { ann: { tenant: t, groups: [] } }\nkinds: { a: { weight: 1, questions: [x], users: [bob] } }',
      'kinds.a.users: there is no user bob; there are: ann',
    ],
    ['an approver that there is not', 'kinds: {}\napprover: { user: bob }', 'approver.user: there is no user bob'],
    ['no kinds', 'users: {}', 'kinds: '],
    ['no YAML', 'kinds: [', 'is no YAML'],
  ])('is refused with its place: %s', (_, text, sentence) => {
    const file = join(folder, 'mix.yaml');
    writeFileSync(file, text);
    expect(() => readMix(file)).toThrow(sentence);
  });

  it('is refused where there is none', () => {
    expect(() => readMix(join(folder, 'nowhere.yaml'))).toThrow(/nowhere\.yaml cannot be read/);
  });
});

describe('what the log does not take', () => {
  const failing = (times: number, retryable: boolean) => {
    const bus = {
      tries: 0,
      publish: () =>
        bus.tries++ < times ? Promise.reject(new Fault('storage', 'It is away.', retryable)) : Promise.resolve(),
    };
    return bus;
  };
  const never = new AbortController().signal;

  it('is tried again while that may help', async () => {
    const bus = failing(2, true);
    await publishPatiently(bus, [], never);
    expect(bus.tries).toBe(3);
  });

  it('is abandoned where it cannot, and when the load is stopped', async () => {
    const hopeless = failing(1, false);
    await expect(publishPatiently(hopeless, [], never)).rejects.toThrow('It is away.');
    const stopped = failing(Infinity, true);
    await expect(publishPatiently(stopped, [], AbortSignal.timeout(50))).rejects.toThrow('It is away.');
    expect([hopeless.tries, stopped.tries]).toEqual([1, 2]);
  });
});
