import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sluice } from './harness/program.js';
import { scriptedEndpoint } from './harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from './harness/scripted-endpoint.js';

/** A payment service. It does not answer its first order; whether that is carried out is for the test to say. */
class Payments {
  /** The keys of the orders that were carried out, in order. */
  readonly done: string[] = [];
  ordered = 0;
  askedAbout = 0;
  /** Resolves when the first order is there. */
  readonly firstOrder: Promise<void>;
  private readonly server: Server;

  constructor(carriesOutFirst: boolean) {
    let first: () => void = () => undefined;
    this.firstOrder = new Promise((resolve) => (first = resolve));
    this.server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://payments');
      const key = searchParams.get('key') ?? '';
      if (pathname === '/asked') {
        this.askedAbout++;
        return void response.end(JSON.stringify(this.done.includes(key)));
      }
      this.ordered++;
      if (this.ordered > 1 || carriesOutFirst) this.done.push(key);
      if (this.ordered > 1) return void response.end('true');
      first();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('kill -9 of the process in the midst of a call whose tool can tell its result', () => {
  let folder: string;
  let endpoint: ScriptedEndpoint;
  beforeEach(async () => {
    folder = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-reconcile-'));
    endpoint = await scriptedEndpoint([['core__pay', '{"amount":5}']], 20);
  });
  afterEach(async () => {
    await endpoint.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['it happened: its result is the step, and it is not made again', true, 1],
    ['it did not happen: it is made, once', false, 2],
  ])(
    '%s; replay decides the same',
    async (_, happened, orders) => {
      const payments = new Payments(happened);
      const url = await payments.listen();
      writeFileSync(
        join(folder, 'pay.mjs'),
        `export default ({ defineTool, z }) => defineTool({
  type: 'pay', description: 'Pays.', input: z.object({ amount: z.number() }), output: z.object({ paid: z.number() }),
  effect: 'external_side_effect', redaction: { fields: ['paid'] }, capabilities: ['idempotency'], repeatable: false, requiresConnection: false, network: 'open',
  execute: async ({ amount }, context, { idempotency }) => {
    await fetch('${url}/order?key=' + encodeURIComponent(idempotency.key));
    return { paid: amount };
  },
  reconcile: async ({ amount }, { key }) =>
    (await (await fetch('${url}/asked?key=' + encodeURIComponent(key))).json())
      ? { outcome: 'happened', result: { paid: amount } }
      : { outcome: 'did_not_happen' } });`,
      );
      const config = join(folder, 'sluice.yaml');
      writeFileSync(
        config,
        `tool_folders: [${folder}]
tool: { pay: { type: pay } }
policy: { allowed_tools: [pay], approval: { none: 'this is a test' } }
limits: { tool_seconds: 5 }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
`,
      );
      const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };
      try {
        const asked = sluice(['ask', 'Pay 5', '--group', '*', '--request', 'lost'], variables);
        await Promise.race([
          payments.firstOrder,
          asked.ended.then(({ output, errors }) => Promise.reject(new Error(`It ended: ${output}${errors}`))),
        ]);
        asked.process.kill('SIGKILL');
        await asked.ended;

        const serving = sluice(['start'], variables);
        await serving.says('It keeps serving');
        const [response] = await responses(variables);
        serving.process.kill('SIGTERM');
        await serving.ended;
        expect(response).toMatchObject({ kind: 'answer', answer: 'All is done.' });
        expect(response?.['history']).toMatchObject([{ action: 'pay', outcome: 'ok', observation: '{"paid":5}' }]);
        expect([payments.ordered, payments.done.length, payments.askedAbout]).toEqual([orders, 1, 1]);

        const replayed = await sluice(['replay'], variables).ended;
        expect([replayed.code, replayed.output]).toEqual([
          0,
          expect.stringMatching(/(\d+) decisions replayed: \1 equal, 0 different; 0 not/),
        ]);
      } finally {
        payments.close();
      }
    },
    120_000,
  );
});

/** The ends of runs, once there is one. */
async function responses(variables: Readonly<Record<string, string>>): Promise<Record<string, unknown>[]> {
  const args = ['tail', '--topic', 'agent.responses', '--from', 'start', '--once', '--json'];
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    const { code, output, errors } = await sluice(args, variables).ended;
    if (code !== 0) throw new Error(`sluice tail ended with ${code}: ${errors}`);
    const lines = output.split('\n').filter((line) => line !== '');
    if (lines.length > 0) return lines.map((line) => (JSON.parse(line) as { record: Record<string, unknown> }).record);
  }
  throw new Error('No run ended within a minute.');
}
