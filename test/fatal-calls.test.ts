import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { calls, workflowConfiguration } from './harness/configurations.js';
import { sluice } from './harness/program.js';
import { scriptedEndpoint } from './harness/scripted-endpoint.js';
import type { ScriptedCall } from './harness/scripted-endpoint.js';

/**
 * Loaded by Node into the process of the services, as a library is. When the answer of an MCP server comes that has
 * the marker, the library does what the test says, and the answer is lost.
 */
const library = (marker: string, does: string): string => `
import { Socket } from 'node:net';
import { appendFileSync } from 'node:fs';
const { emit } = Socket.prototype;
Socket.prototype.emit = function (name, ...given) {
  if (name === 'data' && String(given[0]).includes('structuredContent') && String(given[0]).includes('${marker}')) { ${does} }
  return emit.call(this, name, ...given);
};`;

describe('a library in the executor', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-fatal-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const journal = () => join(folder, 'journal');

  /** The configuration and the library, of a model that makes this call from this state. */
  async function prepared(call: ScriptedCall, code: string, repeatable: boolean) {
    const endpoint = await scriptedEndpoint([call], 20);
    const config = join(folder, 'sluice.yaml');
    const written = workflowConfiguration({ limits: 'limits: { tool_seconds: 3 }' })
      .replace('server.mjs"]', `server.mjs", --journal, "${journal()}"]`)
      .replace('idempotent: true', `idempotent: ${String(repeatable)}`);
    writeFileSync(
      config,
      `${written}\nmodel: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }\n`,
    );
    const file = join(folder, 'library.mjs');
    writeFileSync(file, code);
    const plain = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };
    return { endpoint, plain, broken: { ...plain, NODE_OPTIONS: `--import=${file}` } };
  }

  const ask = ['ask', 'Go', '--group', '*', '--state', 'analysis', '--request', 'lost'];

  it('that throws while a call with an effect is under way leaves its outcome unknown, and the call is made once', async () => {
    const { endpoint, plain, broken } = await prepared(
      calls.reset,
      library('reset', "throw new Error('stray in a library');"),
      false,
    );
    try {
      const { code, output, errors } = await sluice(ask, broken).ended;
      expect([code, output, errors]).toEqual([0, expect.stringContaining('All is done.'), errors]);
      expect(await steps(plain)).toMatchObject([{ outcome: 'execution', reason: 'outcome_unknown' }]);
      expect(readFileSync(journal(), 'utf8').trim().split('\n')).toHaveLength(1);
    } finally {
      await endpoint.close();
    }
  });

  it('that ends the process in each attempt at a call that only reads ends neither the run nor the service for ever', async () => {
    const deaths = join(folder, 'deaths');
    const { endpoint, plain, broken } = await prepared(
      calls.analysis,
      library('summary', `appendFileSync('${deaths}', '+'); process.kill(process.pid, 'SIGKILL');`),
      true,
    );
    const died = () => (existsSync(deaths) ? readFileSync(deaths, 'utf8').length : 0);
    try {
      const asked = await sluice(ask, broken).ended;
      expect([asked.signal, died()]).toEqual(['SIGKILL', 1]);
      for (let round = 0; round < 8 && (await steps(plain)).length === 0; round++) {
        const serving = sluice(['start'], broken);
        const stays = serving.says('It keeps serving').then(
          () => new Promise((go) => setTimeout(go, 6_000)),
          () => undefined,
        );
        await Promise.race([stays, serving.ended]);
        serving.process.kill('SIGTERM');
        await serving.ended;
      }
      expect(died()).toBe(4);
      expect(await steps(plain)).toMatchObject([
        { outcome: 'execution', reason: 'service_lost', observation: expect.stringContaining('not made again') },
      ]);
    } finally {
      await endpoint.close();
    }
  });
});

/** The steps of the run that has ended; none while it has not. */
async function steps(variables: Readonly<Record<string, string>>): Promise<unknown[]> {
  const args = ['tail', '--topic', 'agent.responses', '--from', 'start', '--once', '--json'];
  const { code, output, errors } = await sluice(args, variables).ended;
  if (code !== 0) throw new Error(`sluice tail ended with ${code}: ${errors}`);
  const [line] = output.split('\n').filter((one) => one !== '');
  return line === undefined ? [] : (JSON.parse(line) as { record: { history: unknown[] } }).record.history;
}
