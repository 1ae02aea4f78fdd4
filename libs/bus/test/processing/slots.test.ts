import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Heap } from '../../src/processing/heap.js';
import type { Queued } from '../../src/processing/heap.js';
import { type Room, Slots } from '../../src/processing/slots.js';

/** Records that wait, by the tenants that they are of, and the order in which they are served. */
function waiting(slots: Room, tenants: readonly string[]): string[] {
  const served: string[] = [];
  tenants.forEach((tenant, at) => {
    void Promise.resolve(slots.take(tenant)).then((granted) => granted && served.push(`${tenant}${String(at)}`));
  });
  return served;
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('room for records in work', () => {
  it('is given in the order in which a tenant asked for it, and never beyond its limit', async () => {
    const slots = new Slots(2);
    expect([slots.take('t'), slots.take('t')]).toEqual([true, true]);
    const served = waiting(slots, ['t', 't', 't']);
    slots.free('t');
    await settled();
    expect([served, slots.taken]).toEqual([['t0'], 2]);
    slots.free('t');
    slots.free('t');
    await settled();
    expect([served, slots.taken]).toEqual([['t0', 't1', 't2'], 2]);
  });

  it('is given to the tenant with the fewest records in work, however many of another wait', async () => {
    const slots = new Slots(3);
    for (let n = 0; n < 3; n++) void slots.take('many');
    const served = waiting(slots, [...Array<string>(1_000).fill('many'), 'few', 'few']);
    slots.free('many');
    await settled();
    expect(served).toEqual(['few1000']);
    // One of each is in work, and the one that was served longest ago has its turn.
    slots.free('many');
    await settled();
    expect(served.slice(1)).toEqual(['many0']);
    slots.free('many');
    await settled();
    expect(served.slice(2)).toEqual(['few1001']);
    slots.free('few');
    slots.free('few');
    await settled();
    expect(served.slice(3)).toEqual(['many1', 'many2']);
  });

  it('is given to tenants with as many in work in turn', async () => {
    const slots = new Slots(1);
    void slots.take('a');
    const served = waiting(slots, ['a', 'a', 'a', 'b', 'b', 'c', 'b']);
    for (const tenant of ['a', 'b', 'c', 'a', 'b', 'a', 'b']) {
      slots.free(tenant);
      await settled();
    }
    expect(served.map(([tenant]) => tenant).join('')).toBe('bcababa');
  });

  it('lets no tenant wait for more grants than there are tenants, where each has one record in work at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 }),
        async (tenants) => {
          const slots = new Slots(1);
          void slots.take('first');
          const served = waiting(slots, tenants);
          slots.free('first');
          for (let at = 0; at < tenants.length; at++) {
            await settled();
            expect(served).toHaveLength(at + 1);
            slots.free(served[at]?.[0] ?? '');
          }
          const left = new Map<string, number>();
          for (const tenant of tenants) left.set(tenant, (left.get(tenant) ?? 0) + 1);
          const since = new Map<string, number>();
          for (const [tenant = ''] of served) {
            expect(since.get(tenant) ?? 0).toBeLessThan(4);
            left.set(tenant, (left.get(tenant) ?? 0) - 1);
            for (const [other, count] of left)
              since.set(other, other === tenant || count === 0 ? 0 : (since.get(other) ?? 0) + 1);
          }
          expect(slots.taken).toBe(0);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is less for as long as several tenants share it, so that few of one are in the way of another', async () => {
    let now = 0;
    const slots = new Slots(5, { limit: 2, forMs: 100, now: () => now, counts: (tenant) => tenant !== 'unknown' });
    const served = waiting(slots, ['a', 'a', 'a', 'a']);
    const other = waiting(slots, ['b']);
    await settled();
    expect([served.length, other.length, slots.limit]).toEqual([4, 0, 2]);
    for (const left of [3, 2]) {
      slots.free('a');
      await settled();
      expect([slots.taken, other.length]).toEqual([left, 0]);
    }
    slots.free('a');
    await settled();
    expect([slots.taken, other.length]).toEqual([2, 1]);
    now = 200;
    expect(slots.limit).toBe(5);
  });

  it('is not less for names that may be those of one tenant', () => {
    const slots = new Slots(5, { limit: 2, forMs: 100, now: () => 0, counts: (tenant) => tenant !== 'unknown' });
    for (const tenant of ['a', 'unknown', 'a']) void slots.take(tenant);
    expect(slots.limit).toBe(5);
    void slots.take('b');
    expect(slots.limit).toBe(2);
  });

  it('is given to a tenant at several services in turn, so that what waits at one is not behind what waits at another', async () => {
    const slots = new Slots(1);
    const [one, other] = [slots.ofService(), slots.ofService()];
    void one.take('a');
    const served = waiting(one, ['a', 'a', 'a']);
    const beside = waiting(other, ['a']);
    one.free('a');
    await settled();
    expect([served, beside]).toEqual([[], ['a0']]);
    other.free('a');
    await settled();
    expect(served).toEqual(['a0']);
  });

  it('is refused to one service when that closes, and to no other', async () => {
    const slots = new Slots(1);
    const [one, other] = [slots.ofService(), slots.ofService()];
    void one.take('a');
    const [late, later] = [one.take('a'), other.take('a')];
    one.close();
    expect([await late, one.take('a'), slots.waiting]).toEqual([false, false, 1]);
    one.free('a');
    expect([await later, slots.taken]).toEqual([true, 1]);
    other.free('a');
    expect(slots.taken).toBe(0);
  });

  it('is refused to all who wait or come when it is closed', async () => {
    const slots = new Slots(1);
    expect(slots.take('t')).toBe(true);
    const late = slots.take('t');
    slots.close();
    expect(await late).toBe(false);
    slots.free('t');
    expect(slots.take('t')).toBe(false);
  });

  it.each([0, -1, NaN])('cannot be %s, which would stop all work without a word', (limit) => {
    expect(() => new Slots(limit)).toThrow(/maxInFlight.*Make it 1 or more/);
  });
});

/** The rule itself: each grant looks through all that wait. */
class Scan {
  readonly served: number[] = [];
  private grants = 0;
  private inWork = 0;
  private readonly tenants = new Map<string, { taken: number; served: number; line: number[] }>();

  constructor(private readonly most: number) {}

  take(name: string, id: number): void {
    const tenant = this.tenants.get(name) ?? { taken: 0, served: this.grants - 0.5, line: [] };
    this.tenants.set(name, tenant);
    tenant.line.push(id);
    this.fill();
  }

  free(name: string): void {
    const tenant = this.tenants.get(name);
    if (tenant === undefined) return;
    this.inWork--;
    tenant.taken--;
    if (tenant.taken === 0 && tenant.line.length === 0) this.tenants.delete(name);
    this.fill();
  }

  private fill(): void {
    while (this.inWork < this.most) {
      const [next] = [...this.tenants.values()]
        .filter(({ line }) => line.length > 0)
        .sort((one, other) => one.taken - other.taken || one.served - other.served);
      const id = next?.line.shift();
      if (next === undefined || id === undefined) return;
      this.inWork++;
      next.taken++;
      next.served = ++this.grants;
      this.served.push(id);
    }
  }
}

it('serves in the order of the rule, whatever comes and ends', async () => {
  const act = fc.record({ tenant: fc.nat(7), isTake: fc.boolean() });
  const run = async (most: number, acts: readonly { readonly tenant: number; readonly isTake: boolean }[]) => {
    const slots = new Slots(most);
    const scan = new Scan(most);
    const served: number[] = [];
    const inWork: string[] = [];
    for (const [id, { tenant, isTake }] of acts.entries()) {
      if (isTake) {
        const name = `t${tenant}`;
        const granted = (): void => void (served.push(id), inWork.push(name));
        const taking = slots.take(name);
        if (taking === true) granted();
        else void Promise.resolve(taking).then(granted);
        scan.take(name, id);
      } else {
        const [name] = inWork.splice(tenant % Math.max(1, inWork.length), 1);
        if (name === undefined) continue;
        slots.free(name);
        scan.free(name);
      }
      await settled();
      expect(served).toEqual(scan.served);
    }
  };
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(act, { maxLength: 60 }), run), {
    numRuns: 100,
  });
});

it('finds the next of 20 000 tenants without a look at each', () => {
  let looks = 0;
  class Counted extends Heap<Queued & { readonly rank: number }> {
    constructor() {
      super((one, other) => (looks++, one.rank < other.rank));
    }
  }
  const heap = new Counted();
  const entries = Array.from({ length: 20_000 }, (_, at) => ({ index: -1, rank: (at * 7_919) % 20_000 }));
  for (const entry of entries) heap.push(entry);
  looks = 0;
  for (let rank = 0; rank < 20_000; rank++) {
    const first = heap.first as (typeof entries)[number];
    expect(first.rank).toBe(rank);
    heap.remove(first);
  }
  expect(looks / 20_000).toBeLessThan(40);
});
