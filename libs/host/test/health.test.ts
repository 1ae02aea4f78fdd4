import { describe, expect, it } from '@jest/globals';
import { Health } from '../src/health.js';

const never = (): Promise<void> => new Promise(() => undefined);

describe('readiness', () => {
  it('is every part’s, each with its reason and its figures', async () => {
    const health = new Health();
    health.add({ name: 'broker', check: () => Promise.resolve() });
    health.add({ name: 'filter', check: () => Promise.resolve(), figures: () => ({ partitions: 3 }) });
    expect(await health.readiness()).toEqual({
      status: 'ok',
      checks: { broker: 'ok', filter: 'ok' },
      figures: { filter: { partitions: 3 } },
    });
    health.add({ name: 'broker', check: () => Promise.reject(new Error('It is away.')) });
    expect(await health.readiness()).toMatchObject({
      status: 'unavailable',
      checks: { broker: 'It is away.', filter: 'ok' },
    });
  });

  it('does not wait for ever for a part that says nothing', async () => {
    const health = new Health(20);
    health.add({ name: 'database', check: never });
    expect(await health.readiness()).toMatchObject({
      status: 'unavailable',
      checks: { database: 'It has not said for 0.02 s how it is.' },
    });
  });

  it('says why a part is not open yet, and a better reason once there is one', async () => {
    const health = new Health();
    const seen: string[] = [];
    const look = async (): Promise<void> => void seen.push((await health.readiness()).checks['log'] ?? 'not asked');
    await health.during('log', 'It is not open yet.', async (because) => {
      await look();
      because('Kafka does not answer.');
      await look();
    });
    await look();
    expect(seen).toEqual(['It is not open yet.', 'Kafka does not answer.', 'not asked']);
  });
});

describe('liveness', () => {
  it('asks no part', () => {
    const health = new Health();
    health.add({ name: 'broker', check: () => Promise.reject(new Error('It is away.')) });
    expect(health.liveness()).toEqual({ status: 'ok', checks: { 'event loop': 'ok' } });
  });
});
