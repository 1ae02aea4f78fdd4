import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { commitsPerSecond, costsOf, cycleAt, cycleOf, predicted } from '../bench/capacity/model.js';
import type { Calibration, Counted } from '../bench/capacity/model.js';
import { withCapacityTables } from '../bench/capacity/page.js';
import { standardPlan, standardPlans } from '../bench/capacity/plans.js';
import { ceilingOf, sizeOf } from '../bench/capacity/sizing.js';
import type { CostsFile } from '../bench/capacity/tables.js';

const file = JSON.parse(readFileSync('bench/capacity/costs.json', 'utf8')) as CostsFile;
const { kafka } = file;

describe('commits that gather what comes during the one before', () => {
  it('are one for each thing where these are few, and one after the other where they are many', () => {
    expect(commitsPerSecond(1, 0.005)).toBeCloseTo(1, 2);
    expect(commitsPerSecond(100_000, 0.005)).toBeCloseTo(200, 3);
    expect(commitsPerSecond(0, 0.005)).toBe(0);
    expect(commitsPerSecond(50, 0)).toBeCloseTo(50, 6);
  });

  it('are as many as a queue played through has', () => {
    const random = randomFrom(7);
    for (const [things, cycle] of [
      [20, 0.01],
      [150, 0.01],
      [900, 0.004],
    ] as const) {
      const seconds = 2_000;
      let [commits, freeAt, isWaiting] = [0, 0, false];
      for (let at = 0; at < seconds; at += -Math.log(1 - random()) / things) {
        while (isWaiting && freeAt <= at) [commits, freeAt, isWaiting] = [commits + 1, freeAt + cycle, false];
        if (at >= freeAt) [commits, freeAt] = [commits + 1, at + cycle];
        else isWaiting = true;
      }
      expect(commits / seconds / commitsPerSecond(things, cycle)).toBeCloseTo(1, 1);
    }
  });

  it('say how long one takes, back from their number', () => {
    for (const cycle of [0.001, 0.01, 0.1]) expect(cycleOf(80, commitsPerSecond(80, cycle))).toBeCloseTo(cycle, 6);
    expect(cycleOf(80, 80)).toBe(0);
    expect(cycleOf(0, 3)).toBe(0);
  });

  it('take longer the more of a flood there is, since fewer of them fit into a second', () => {
    const measured = { cycle: 0.01, fullCycle: 0.05 };
    expect([0.25, 0.625, 1, 2].map((share) => 1 / cycleAt(measured, share, 0.25))).toEqual(
      [100, 60, 20, 20].map((perSecond) => expect.closeTo(perSecond, 6)),
    );
    expect(1 / cycleAt(measured, 0.1, 0.25)).toBeCloseTo(116, 6);
    expect(cycleAt({ cycle: 0, fullCycle: 0.05 }, 0.5, 0.25)).toBe(0);
    // A flood that a quieter moment met says nothing.
    expect(cycleAt({ cycle: 0.01, fullCycle: 0.008 }, 0.9, 0.25)).toBe(0.01);
  });
});

/** What an installation would count whose costs are known: 2 ms a run, 1 ms a commit, 10 ms a second. */
function made(runs: number, commits: number, seconds: number): Counted {
  const count = runs * commits;
  return {
    runs,
    sending: seconds,
    counted: {
      at: seconds,
      parts: { filter: { cpu: 0.01 * seconds + 0.002 * runs + 0.001 * count, commits: count, records: 0 } },
      commits: 3 * count,
      walBytes: 100 * runs,
      claims: { turn: 4 * runs, end: runs },
      bytes: { 'agent.toolsets': 1_000 * runs + 80 * count, 'agent.responses': 0 },
    },
  };
}

const calibration: Calibration = {
  claimBytes: 300,
  idle: made(0, 0, 10),
  runs: { 'log read': { alone: made(40, 2, 10), full: made(400, 0.1, 10) } },
  between: { name: 'log read', counted: [made(200, commitsPerSecond(40, 0.02) / 20, 10)] },
};

describe('costs of what was counted', () => {
  const costs = costsOf(calibration);

  it('part what a run takes from what its commits take', () => {
    const filter = costs.cpu['filter'];
    expect(filter?.aSecond).toBeCloseTo(0.01, 9);
    expect(filter?.aCommit).toBeCloseTo(0.001, 9);
    expect(filter?.aRun['log read']).toBeCloseTo(0.002, 9);
    expect(costs.commits['filter']?.cycle).toBeCloseTo(0.02, 6);
    expect(costs.commits['filter']?.fullCycle).toBeCloseTo(0.25, 2);
    expect([costs.floodSeconds['log read'], costs.spareShare]).toEqual([0.025, 0.5]);
    expect(costs.claims['log read']).toBe(5);
    expect(costs.bytes['agent.toolsets']?.aCommit).toBeCloseTo(80, 6);
  });

  it('predict the loads they come from', () => {
    const seconds = { sending: 10, all: 10 };
    const { cpu, commits, claims, bytes } = predicted(costs, { 'log read': 1 }, 20, seconds);
    const counted = calibration.between.counted[0]?.counted ?? calibration.idle.counted;
    expect(commits['filter']).toBeCloseTo(counted.parts['filter']?.commits ?? 0, 3);
    expect(commits['log']).toBeCloseTo(commits['filter'] ?? 0, 9);
    expect(commits['ledger'] ?? 0).toBeGreaterThan(0);
    expect(cpu['filter']).toBeCloseTo(counted.parts['filter']?.cpu ?? 0, 5);
    expect(bytes['agent.toolsets']).toBeCloseTo(counted.bytes['agent.toolsets'] ?? 0, 0);
    expect(claims).toBe(1_000);
  });

  it('go by the commits that were counted, where these are given', () => {
    const seconds = { sending: 10, all: 10 };
    const { cpu, commits } = predicted(costs, { 'log read': 1 }, 20, seconds, { filter: 400, ledger: 1_200 });
    expect(commits).toEqual({ filter: 400, ledger: 1_200, log: 400 });
    expect(cpu['filter']).toBeCloseTo(0.1 + 0.4 + 0.4, 6);
  });

  it('refuse a kind that was not measured', () =>
    expect(() => predicted(costs, { 'mcp call': 1 }, 20, { sending: 1, all: 1 })).toThrow(
      '“mcp call” were not measured',
    ));
});

describe('sizes', () => {
  it('grow with the runs, and by installations once a single process is full', () => {
    const sizes = standardPlans.map((plan) => sizeOf(kafka.costs, plan));
    const [small, , large] = sizes;
    for (const part of Object.keys(small?.instances ?? {})) {
      const counts = sizes.map(({ instances }) => instances[part] ?? 0);
      expect(counts).toEqual([...counts].sort((a, b) => a - b));
    }
    const { perSecond } = ceilingOf(kafka.costs, standardPlan);
    expect(sizeOf(kafka.costs, { ...standardPlan, perSecond: perSecond * 0.2 }).installations).toBe(1);
    expect(large?.installations).toBeGreaterThanOrEqual(Math.floor(10_000 / perSecond));
    expect(large?.claimsKept).toBeCloseTo((large?.claimsPerSecond ?? 0) * 7 * 86_400, 0);
  });

  it('follow a slow model by agents, since each has 256 turns at a time', () => {
    const agents = (modelSeconds: number): number =>
      sizeOf(kafka.costs, { ...standardPlan, modelSeconds }).instances['agent'] ?? 0;
    expect(agents(60)).toBe(Math.ceil((100 * 60 * 1.7) / 256));
    expect(agents(60)).toBeGreaterThan(agents(1));
  });

  it('have no fewer partitions than instances of a consumer', () => {
    for (const plan of standardPlans) {
      const { partitions, instances, installations } = sizeOf(kafka.costs, plan);
      for (const part of ['filter', 'agent', 'executor', 'audit'])
        expect(partitions * installations).toBeGreaterThanOrEqual(instances[part] ?? 0);
    }
  });

  it('refuse runs that do not fit anywhere', () =>
    expect(() => sizeOf(kafka.costs, { ...standardPlan, perSecond: 1e9 })).toThrow('do not fit'));
});

it.each(['docs/capacity.md', 'docs/benchmarks.md'])(
  '%s has the tables that bench/capacity/costs.json comes to: `npm run bench -- size --page` writes them',
  (page) => {
    const text = readFileSync(page, 'utf8');
    expect(text).toContain('<!-- capacity: checked on Kafka -->\n\n|');
    expect(text).toBe(withCapacityTables(text, file));
  },
);

/** The same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
