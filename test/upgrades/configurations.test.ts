import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { createLog, openLogFile, openRuntime, readEnvironment } from '@sluice/host';
import type { Environment } from '@sluice/host';
import { startAgent } from '../../apps/agent/src/agent.module.js';
import { serveExecutor } from '../../apps/executor/src/executor.module.js';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { newRequest, followRun } from '../../apps/sluice/src/run-request.js';
import { inOrder, ScriptedModel } from '../harness/system.js';

/** As a former release did, which had no keys to sign with: before this one has made its own. */
async function applyAsFormer(
  compiled: { readonly version: string; readonly configuration: string },
  environment: Environment,
): Promise<void> {
  const bus = await openLogFile(environment, createLog('silent'));
  const record = { ...compiled, source: 'former', compiledAt: 0, recordSignature: null, parts: [] };
  await bus.publish([{ topic: topics.config, key: 'config', record }]);
  await bus.close();
}

/** Compiled configurations as each release published them: kept for ever, since every decision names one. */
const fixtures = globSync(join(import.meta.dirname, '../fixtures/configurations/*.json'));

describe('a configuration that a former release compiled', () => {
  const folders: string[] = [];
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  it('is kept from each release', () => expect(fixtures.length).toBeGreaterThan(0));

  it.each(fixtures.map((file) => [basename(file), file]))(
    '%s is read, decided by and run under as it is (G-139)',
    async (_, file) => {
      const text = readFileSync(file, 'utf8');
      const configuration = JSON.parse(text) as Configuration;
      const evaluator = compileEvaluator(configuration);
      const decision = evaluator.evaluate({
        groups: ['read-only'],
        state: null,
        toolIds: null,
        calls: {},
        connections: [],
      });
      expect(decision.offered.map(({ key }) => key)).toEqual(['knowledge-query', 'clock']);

      const folder = mkdtempSync(join(tmpdir(), 'sluice-former-'));
      folders.push(folder);
      const environment = readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' });
      await applyAsFormer({ version: configuration.version, configuration: text }, environment);
      const { runtime, ...open } = await openRuntime(environment, createLog('silent'));
      const services = [];
      try {
        await runtime.configurations.start();
        const call = ['core__clock', '{}'] as const;
        const model = new ScriptedModel(inOrder({ calls: [call] }, { answer: 'It runs.' }));
        services.push(await startFilter(runtime));
        services.push(await startAgent(runtime, { get: () => Promise.resolve(model) }));
        services.push(await serveExecutor(runtime));
        const request = { ...newRequest('Does it?', { requestId: 'r', sessionId: 's' }), group: ['read-only'] };
        await runtime.bus.publish([{ topic: topics.requests, key: 's', record: request }]);
        const signal = AbortSignal.timeout(120_000);
        const response = await followRun(runtime.bus, 'r', 0, () => undefined, signal);
        expect(response).toMatchObject({ kind: 'answer', answer: 'It runs.', configVersion: configuration.version });
        expect(response?.history.map(({ action, outcome }) => [action, outcome])).toEqual([['clock', 'ok']]);
      } finally {
        for (const service of services) await service.close();
        await open.close();
      }
    },
  );
});
