import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { versionOf } from '@sluice/core';
import type { Configuration, ConfiguredTool } from '@sluice/core';
import { ConfigurationContents, maxPayloadBytes, payloadBytes, sha256, topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import type { Incoming, LogReader, Outgoing } from '@sluice/bus';
import { createSignatures, keysFor, newKeySet } from '@sluice/identity';
import {
  applyConfiguration,
  configurationRecords,
  ConfigurationRecords,
  configurationsOn,
  inForceOf,
  isApplied,
  judgedConfigurations,
} from '@sluice/run';

const signatures = createSignatures(newKeySet(0));
const about = { source: 'sluice.yaml', compiledAt: 1 };
const inParts = { signatures, isWhole: false };
const fixture = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../test/fixtures/configurations/1.json'), 'utf8'),
) as Configuration;
const [template] = fixture.tools as [ConfiguredTool];

/** Tools with descriptions so long that a record holds no two hundred of them. */
const tool = (n: number, text = 'x'): ConfiguredTool => ({
  ...template,
  ...{ key: `tool-${n}`, id: `core__tool-${n}`, description: `${n} ${text.repeat(5_000)}` },
});
const having = (...tools: readonly ConfiguredTool[]): Configuration => {
  const { version: _, ...content } = { ...fixture, tools };
  return { version: versionOf(content, sha256), ...content };
};
const tools = Array.from({ length: 300 }, (_, n) => tool(n));
const first = having(...tools);
const second = having(...tools.with(7, tool(7, 'y')));

/** A log of agent.config in memory. */
class ConfigLog {
  readonly records: ConfigVersion[] = [];

  constructor(records: readonly ConfigVersion[] = []) {
    this.records.push(...records);
  }

  readonly read = async function* (this: ConfigLog) {
    for (const [offset, record] of this.records.entries())
      yield await Promise.resolve({ ...place, offset, record } as Incoming<'agent.config'>);
  } as unknown as LogReader['read'];

  publish(messages: readonly Outgoing[]): Promise<void> {
    for (const { topic, record } of messages) if (topic === topics.config) this.records.push(record);
    return Promise.resolve();
  }
}
const place = { topic: topics.config, partition: 0, key: 'config', headers: {}, timestamp: 1_000 };

const applied = async (...configurations: readonly Configuration[]): Promise<ConfigLog> => {
  const log = new ConfigLog();
  for (const configuration of configurations) await applyConfiguration(log, configuration, about, inParts);
  return log;
};
const inForceOn = async (log: ConfigLog) => inForceOf(await configurationsOn(log, signatures));
const judgedOn = async (records: readonly ConfigVersion[]) =>
  (await judgedConfigurations(new ConfigLog(records), signatures)).map(({ applied: { version }, refused }) => [
    version,
    refused,
  ]);

describe('a configuration that is longer than a record', () => {
  it('is its tools, each once, and then a signed record that names them in order', async () => {
    const { records } = await applied(first);
    expect(records).toHaveLength(301);
    const manifest = records.at(-1) as ConfigVersion;
    expect(manifest).toMatchObject({ version: first.version, recordSignature: expect.any(String) });
    expect(manifest.parts).toEqual(records.slice(0, -1).map(({ version }) => version));
    for (const record of records) expect(payloadBytes(topics.config, record)).toBeLessThan(maxPayloadBytes);
    expect(records.slice(0, -1).every(({ version }) => /^p-[\w-]{43}$/.test(version))).toBe(true);
  });

  it('is read as what was applied', async () => {
    const found = await inForceOn(await applied(first));
    expect(found?.read()).toEqual(first);
    expect(isApplied(first.version, found, inParts)).toBe(true);
    // Services of a former version would not read it.
    expect(isApplied(first.version, found, { signatures, isWhole: true })).toBe(false);
  });

  it('takes one part and its own record more where one description has changed', async () => {
    const log = await applied(first, second);
    const added = log.records.slice(301);
    expect(added.map(({ version }) => version)).toEqual([expect.stringMatching(/^p-/), second.version]);
    expect(JSON.parse(added[0]?.configuration ?? '')).toEqual(second.tools[7]);
    // Back to what was: nothing but the record that says so.
    await applyConfiguration(log, first, about, inParts);
    expect(log.records.slice(303).map(({ version }) => version)).toEqual([first.version]);
    expect((await inForceOn(log))?.read()).toEqual(first);
  });

  it('shares the tools that versions have in common', async () => {
    const all = await configurationsOn(await applied(first, second), signatures);
    const [before, after] = all.map((one) => one.read().tools);
    const same = before?.map((one, n) => one === after?.[n]);
    expect(same?.map((is, n) => [n, is]).filter(([, is]) => is === false)).toEqual([[7, false]]);
  });

  it('keeps the order of its tools, and is another version in another', async () => {
    const turned = having(...tools.toReversed());
    const log = await applied(first, turned);
    expect(log.records).toHaveLength(302);
    expect((await inForceOn(log))?.read()).toEqual(turned);
    expect(turned.version).not.toBe(first.version);
  });

  it('is refused where its keys cannot sign, and nothing of it is written', async () => {
    const log = new ConfigLog();
    const others = createSignatures(keysFor('filter', newKeySet(0)));
    const applying = applyConfiguration(log, first, about, { signatures: others, isWhole: false });
    await expect(applying).rejects.toThrow('The keys here cannot sign a configuration');
    expect(log.records).toEqual([]);
  });
});

describe('a part that is not there, or another one', () => {
  it('lets the configuration wait, and what was in force stays', async () => {
    const { records } = await applied(second, first);
    const without = records.filter(({ configuration }) => configuration !== JSON.stringify(first.tools[7]));
    expect(await judgedOn(without)).toEqual([
      [second.version, null],
      [
        first.version,
        expect.stringMatching(/^waits: 1 of its 300 parts are not on agent\.config before it, such as p-[\w-]{43}\.$/),
      ],
    ]);
    expect((await inForceOn(new ConfigLog(without)))?.version).toBe(second.version);
  });

  it('comes later: then the configuration is in force, unless another one is by then', async () => {
    const { records } = await applied(first);
    const late = [...records.slice(1), records[0] as ConfigVersion];
    expect(await judgedOn(late)).toEqual([[first.version, null]]);
    const small = (await configurationRecords(fixture, about, inParts)).record;
    const overtaken = [...records.slice(1), small, records[0] as ConfigVersion];
    expect((await inForceOn(new ConfigLog(overtaken)))?.version).toBe(fixture.version);
  });

  it('is written when the configuration is applied again', async () => {
    const { records } = await applied(first);
    const log = new ConfigLog(records.slice(1));
    expect(await inForceOn(log)).toBeUndefined();
    await applyConfiguration(log, first, about, inParts);
    expect(log.records).toHaveLength(302);
    expect((await inForceOn(log))?.read()).toEqual(first);
  });

  it('is refused with another content than its name says, and is still missing', async () => {
    const { records } = await applied(first);
    const forged = { ...(records[7] as ConfigVersion), configuration: JSON.stringify(tool(7, 'evil')) };
    const with7 = records.with(7, forged);
    expect(await judgedOn(with7)).toEqual([
      [forged.version, 'refused: a part that is not what its name says'],
      [first.version, expect.stringMatching(/^waits: 1 of its 300 parts/)],
    ]);
    // Where the genuine one stands as well, a forged one changes nothing.
    expect((await inForceOn(new ConfigLog([forged, ...records])))?.read()).toEqual(first);
  });

  it('cannot be put in its place: the names are signed', async () => {
    const { records } = await applied(first, second);
    const manifest = records[300] as ConfigVersion;
    const other = records[301] as ConfigVersion;
    const changed = [...records, { ...manifest, parts: manifest.parts.with(7, other.version) }];
    expect((await judgedOn(changed)).at(-1)).toEqual([
      first.version,
      'refused: it is not what was signed with a key of the role config',
    ]);
    for (const parts of [manifest.parts.toReversed(), manifest.parts.slice(1), [...manifest.parts, other.version]])
      expect((await judgedOn([...records, { ...manifest, parts }])).at(-1)?.[1]).toMatch(/^refused/);
    // And whatever calls itself so, the version is what was applied.
    const all = new ConfigurationRecords(signatures);
    for (const [offset, record] of changed.entries()) await all.take({ ...place, record, timestamp: offset });
    expect(all.contents.get(first.version)).toEqual(first);
    // As threads are sent it.
    const sent = new ConfigurationContents(structuredClone(all.contents.written));
    expect([sent.get(first.version), sent.get(second.version)]).toEqual([first, second]);
  });

  it('cannot be there twice, or make another version of it', async () => {
    const { records } = await applied(first);
    const manifest = records.at(-1) as ConfigVersion;
    const read = async (changed: ConfigVersion) => {
      const unverified = { verify: () => Promise.resolve(null), unknownKey: () => null, since: () => Infinity };
      const all = new ConfigurationRecords(unverified);
      const unsigned = { ...changed, recordSignature: null };
      for (const record of [...records.slice(0, -1), unsigned]) await all.take({ ...place, record });
      return all.contents.get(first.version);
    };
    expect(await read(manifest)).toEqual(first);
    const twice = { ...manifest, parts: [...manifest.parts, manifest.parts[0] ?? ''] };
    await expect(read(twice)).rejects.toThrow('It names one of its parts twice.');
    const less = { ...manifest, parts: manifest.parts.slice(1) };
    await expect(read(less)).rejects.toThrow('Its version is not the hash of its content.');
  });
});

describe('what a configuration may have', () => {
  it('is one record while that is short, or as SLUICE_TOOLSETS=whole asks for it', async () => {
    const some = having(...tools.slice(0, 20));
    expect((await configurationRecords(fixture, about, inParts)).parts).toEqual([]);
    expect((await configurationRecords(some, about, inParts)).parts).toHaveLength(20);
    const whole = await configurationRecords(some, about, { signatures, isWhole: true });
    expect(whole).toMatchObject({ parts: [], record: { configuration: JSON.stringify(some), parts: [] } });
    const tooLarge = configurationRecords(first, about, { signatures, isWhole: true });
    await expect(tooLarge).rejects.toThrow(
      /^The configuration has 1\d{6} bytes, more than the 1000000 that a record may have, and SLUICE_TOOLSETS=whole writes it in one\. Leave/,
    );
  });

  it('has no tool that is longer than a record, which is named', async () => {
    const long = { ...tool(1), description: 'x'.repeat(maxPayloadBytes) };
    await expect(configurationRecords(having(tool(0), long), about, inParts)).rejects.toThrow(
      /^The tool tool-1 has 100\d{4} bytes in the configuration, more than the 1000000 that a record may have\. Shorten its description or its schema\.$/,
    );
    const beside = { ...first, instructions: 'x'.repeat(maxPayloadBytes) };
    await expect(configurationRecords(beside, about, inParts)).rejects.toThrow(/without its 300 tools/);
  });
});
