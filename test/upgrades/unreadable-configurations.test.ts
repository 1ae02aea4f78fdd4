import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Configuration } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { SqliteBus } from '@sluice/bus';
import { asksForCredentials, configurationsOn, inForceOf } from '@sluice/run';
import { createLog, openRuntime, readEnvironment } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { unverified } from '@sluice/identity';
import { everything, replay } from '@sluice/replay';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { applyTo, versioned } from '../harness/applied.js';
import { sluice } from '../harness/program.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import { authorizerOf } from '../replay/replaying.js';
import { eventually } from '../security/forging.js';

const fixture = readFileSync(join(import.meta.dirname, '../fixtures/configurations/1.json'), 'utf8');
const saying = (instructions: string): Configuration =>
  versioned({ ...(JSON.parse(fixture) as Configuration), instructions });
const [first, second] = [saying('One.'), saying('Two.')];
const ofAnotherShape = versioned({ version: '', rules: [] } as unknown as Configuration);
const { version: odd } = ofAnotherShape;

describe('a record on agent.config that cannot be read', () => {
  let folder: string;
  let open: OpenRuntime;
  let lines: Record<string, unknown>[];
  const start = async (): Promise<void> => {
    lines = [];
    const environment = readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' });
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
    open = await openRuntime(environment, createLog('warn', { write }));
  };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-unreadable-'));
    await start();
  });
  afterEach(async () => {
    await open.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const bus = () => open.runtime.bus as SqliteBus;
  const publish = (configuration: Configuration) => applyTo(open.runtime, configuration);
  const signatures = () => open.runtime.signatures;
  const inForce = () => open.runtime.configurations.inForceOrNull()?.configuration.version ?? null;
  const isInForce = (version: string) => eventually(async () => (inForce() === version ? true : undefined));
  const passedOver = () => lines.filter(({ msg }) => /is ignored.*sluice config apply/.test(String(msg)));

  const unreadable: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['cannot be decoded', () => bus().appendRaw('agent.config', 'config', Buffer.from('{"nonsense":1}'))],
    ['holds a configuration of another shape', () => publish(ofAnotherShape)],
  ];

  it.each(unreadable)('and %s keeps out none behind it, and is reported once with its position', async (_, write) => {
    await publish(first);
    await open.runtime.configurations.start();
    expect(inForce()).toBe(first.version);
    await write();
    await publish(second);
    await isInForce(second.version);
    expect(passedOver()).toEqual([
      expect.objectContaining({ topic: 'agent.config', partition: 0, offset: 1, reason: expect.any(String) }),
    ]);
    expect(lines).toHaveLength(1);
  });

  it.each(unreadable)('and %s leaves a service that starts with the one before it', async (_, write) => {
    await publish(first);
    await write();
    await open.close();
    await start();
    await open.runtime.configurations.start();
    expect(inForce()).toBe(first.version);
    expect(passedOver()).toMatchObject([{ offset: 1 }]);
    expect(inForceOf(await configurationsOn(bus(), signatures()))?.version).toBe(first.version);
    expect(await asksForCredentials(bus(), signatures())).toBe(false);
    await publish(second);
    await isInForce(second.version);
    expect(passedOver()).toHaveLength(1);
  });

  it('is nothing to say where a later one is in force, until a record names it', async () => {
    await publish(ofAnotherShape);
    await publish(first);
    const { configurations } = open.runtime;
    await configurations.start();
    expect([inForce(), lines]).toEqual([first.version, []]);
    await expect(configurations.version(odd)).rejects.toMatchObject({
      code: 'unknown_configuration',
      message: expect.stringContaining(`configuration ${odd}, which is on agent.config and cannot be read here: `),
      retryable: true,
    });
    expect((await configurations.version(first.version)).configuration.version).toBe(first.version);
  });
});

describe('another content under the version of what was decided', () => {
  it('changes nothing of what a replay says about it', async () => {
    const system = await startSystem(workflowConfiguration(), new ScriptedModel(inOrder({ calls: [calls.query] })));
    try {
      await system.ask({ group: ['read-only'] });
      const [applied] = await system.all('agent.config');
      if (applied === undefined) throw new Error('Nothing was applied.');
      const nothingAllowed = JSON.parse(applied.record.configuration) as { policy: { allowedTools: string[] } };
      nothingAllowed.policy.allowedTools = [];
      const record = { ...applied.record, configuration: JSON.stringify(nothingAllowed) };
      await system.bus.publish([{ topic: topics.config, key: 'config', record }]);
      expect(await system.ask({ group: ['read-only'] })).toMatchObject({ history: [{ outcome: 'ok' }] });
      const outcomes: string[] = [];
      const selection = { selection: everything, verifier: unverified, authorizerOf };
      const watching = { signal: new AbortController().signal, onUndecodable: () => undefined };
      for await (const { outcome } of replay(system.bus, { ...selection, ...watching })) outcomes.push(outcome.kind);
      expect(outcomes.length).toBeGreaterThan(5);
      expect(new Set(outcomes)).toEqual(new Set(['equal']));
    } finally {
      await system.close();
    }
  });
});

describe('an undecodable record on agent.config', () => {
  it('keeps neither the system from starting nor its log from being replayed', async () => {
    let system = await startSystem(workflowConfiguration(), new ScriptedModel(inOrder({ calls: [calls.query] })));
    try {
      await system.bus.appendRaw('agent.config', 'config', Buffer.from('{"nonsense":1}'));
      system = await system.restart();
      expect(await system.ask({ group: ['read-only'] })).toMatchObject({ kind: 'answer', iterations: 2 });
      const told: object[] = [];
      const options = {
        ...{ selection: everything, verifier: unverified, authorizerOf, signal: new AbortController().signal },
        onUndecodable: (place: object) => void told.push(place),
      };
      const outcomes: string[] = [];
      for await (const { outcome } of replay(system.bus, options)) outcomes.push(outcome.kind);
      expect(told).toEqual([{ topic: 'agent.config', partition: 0, offset: 1 }]);
      expect(outcomes).toEqual(Array.from({ length: 5 }, () => 'equal'));
    } finally {
      await system.close();
    }
  });

  it('is ignored by the commands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-unreadable-'));
    try {
      const data = { SLUICE_DATA: folder };
      const config = async (...args: string[]) => {
        const { output, errors } = await sluice(['config', ...args], data).ended;
        return output + errors;
      };
      const file = join(folder, 'sluice.yaml');
      writeFileSync(file, workflowConfiguration());
      await config('apply', file);
      const open = await openRuntime(readEnvironment({ ...data, SLUICE_PORT: '0' }), createLog('silent'));
      await applyTo(open.runtime, ofAnotherShape);
      await (open.runtime.bus as SqliteBus).appendRaw('agent.config', 'config', Buffer.from('{"nonsense":1}'));
      await open.close();
      expect(await config('apply', file)).toContain('is in force already');
      expect((await config('list')).split('\n').filter((line) => line.endsWith(' in force'))).toEqual([
        expect.stringMatching(/^c-[0-9a-f]{16} .*sluice\.yaml in force$/),
      ]);
      writeFileSync(file, workflowConfiguration({ allowed: 'knowledge-query' }));
      expect(await config('apply', file)).toMatch(/is in force, after c-[0-9a-f]{16}\./);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
