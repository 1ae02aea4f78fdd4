import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Admin } from 'kafkajs';
import { handledTopics } from '@sluice/contracts';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { eventually, testMs } from '../contract/harness.js';
import { onKafka, withAdmin } from './on-broker.js';

const day = 24 * 3_600_000;
const topics = { partitions: 2, replication: 1 };

async function settingsOf(admin: Admin, name: string): Promise<ReadonlyMap<string, string>> {
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name }] });
  return new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
}

/**
 * A topic’s settings once these are so: the controller has taken them, and the broker that is asked hears of it a
 * moment later.
 */
async function settledOf(admin: Admin, name: string, wanted: Readonly<Record<string, number>>) {
  let settings: ReadonlyMap<string, string> = new Map();
  await eventually(`${JSON.stringify(wanted)} of ${name}`, async () => {
    settings = await settingsOf(admin, name);
    return Object.entries(wanted).every(([setting, value]) => settings.get(setting) === String(value));
  });
  return settings;
}

describe('how long topics are kept', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'is changed for topics that are there when an operator asks for it, and nothing else of them is',
    () =>
      onKafka(
        async (start, options) => {
          await start();
          const retentionMs = { 'agent.steps': 30 * day, 'agent.audit': 90 * day };
          const retentionBytes = { 'agent.steps': 8 * 1024 ** 3 };
          const { bus } = await start({ topics: { ...topics, retentionMs, retentionBytes } });
          const name = `${options.prefix}agent.steps`;
          await withAdmin(options, async (admin) => {
            expect((await settingsOf(admin, name)).get('retention.ms')).toBe(String(7 * day));
            expect(await bus.applyRetention()).toEqual(
              expect.arrayContaining([
                `${name}: retention.ms was ${7 * day}, is ${30 * day}`,
                `${options.prefix}agent.audit: retention.ms was -1, is ${90 * day}`,
              ]),
            );
            const settings = await settledOf(admin, name, {
              'retention.ms': 30 * day,
              'retention.bytes': 4 * 1024 ** 3,
            });
            await settledOf(admin, `${options.prefix}agent.audit`, { 'retention.ms': 90 * day });
            expect(settings.get('message.timestamp.type')).toBe('LogAppendTime');
            expect(settings.get('compression.type')).toBe('uncompressed');
          });
          expect(await bus.applyRetention()).toEqual([]);
          const without = await start({ topics: { ...topics, retentionMs } });
          expect(await without.bus.applyRetention()).toEqual([
            `${name}: retention.bytes was ${4 * 1024 ** 3}, is the broker’s own`,
          ]);
          await withAdmin(options, async (admin) => {
            await settledOf(admin, name, { 'retention.bytes': -1, 'retention.ms': 30 * day });
          });
          expect(await without.bus.applyRetention()).toEqual([]);
        },
        { topics },
      ),
    testMs,
  );

  it(
    'is warned of if the broker forgets sooner where a group has read',
    () =>
      onKafka(
        async (start) => {
          const { bus } = await start({ topics: { ...topics, retentionMs: loop(day) } });
          expect(await bus.warnings()).toEqual([]);
          // A broker says what it was set to a moment later.
          const warnedOf = (holds: (warning: string) => boolean) =>
            eventually('the warning', async () => {
              const [warning = '', ...more] = await bus.warnings();
              return more.length === 0 && holds(warning);
            });
          const longer = await start({ topics: { ...topics, retentionMs: loop(30 * day) } });
          await longer.bus.applyRetention();
          const kept30 = /forgets after 7 days .* is kept for 30 days: .* Set offsets\.retention\.minutes higher\./;
          await warnedOf((warning) => kept30.test(warning));
          const forEver = await start({ topics: { ...topics, retentionMs: loop(-1) } });
          await forEver.bus.applyRetention();
          await warnedOf((warning) => warning.includes('is kept for ever'));
        },
        { topics: { ...topics, retentionMs: loop(day) } },
      ),
    testMs,
  );
});

/** Of the topics that groups read with committed offsets. */
function loop(milliseconds: number) {
  return Object.fromEntries(handledTopics.map((name) => [name, milliseconds]));
}
