import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { sluice } from '../harness/program.js';
import { eventOf, secretOf, startReceiver } from './receiver.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-notified-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const secret = secretOf('1');
const configuration = (receiver: { readonly host: string; url(path: string): string }): string => `
tool: { text: { type: text-completion, group: [default] } }
policy: { allowed_tools: [text] }
notify:
  private_hosts: ['${receiver.host}']
  subscriptions: { one: { url: '${receiver.url('/one')}', events: [run.ended], secret_env: HOOK } }
`;

it('kill -9 between a webhook and its commit: it is sent again with the same id, and then no more', async () => {
  let received: () => Promise<number> = () => Promise.resolve(204);
  const receiver = await startReceiver(() => received());
  const config = join(folder, 'sluice.yaml');
  writeFileSync(config, configuration(receiver));
  const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config, HOOK: secret };
  try {
    const first = sluice(['start'], variables);
    await first.says('It keeps serving');
    // It has the webhook, and is gone before it reads that this was taken.
    received = async () => {
      first.process.kill('SIGKILL');
      await first.ended;
      return 204;
    };
    await sluice(['ask', 'Hello', '--request', 'run-1'], variables).ended;
    await receiver.until('/one', 1);
    await first.ended;
    received = () => Promise.resolve(204);

    for (const count of [2, 2]) {
      const next = sluice(['start'], variables);
      await next.says('It keeps serving');
      const all = await receiver.until('/one', count);
      await sleep(1_000);
      expect(receiver.at('/one')).toHaveLength(2);
      expect(all.map((one) => eventOf(one, secret).subject)).toEqual(['run-1', 'run-1']);
      expect(new Set(all.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      next.process.kill('SIGTERM');
      expect((await next.ended).code).toBe(0);
    }
  } finally {
    await receiver.close();
  }
}, 240_000);

it('the receiver of docs/notifications.md takes what is signed, each event once, and `sluice notify` tries it', async () => {
  const page = readFileSync(join(projectRoot, 'docs/notifications.md'), 'utf8');
  const [, example = ''] = /```js\n(\/\/ receiver\.mjs[^]*?)```/.exec(page) ?? [];
  const program = spawn(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: projectRoot,
    env: { ...process.env, PORT: '0', DESK_WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    program.stdout.on('data', (part: Buffer) => (said += part.toString()));
    const [, port = ''] = await eventually(
      () => /listening on (\d+)/.exec(said),
      (match) => match !== null,
    ).then((match) => match ?? []);
    const config = join(folder, 'sluice.yaml');
    writeFileSync(
      config,
      configuration({ host: `127.0.0.1:${port}`, url: (path) => `http://127.0.0.1:${port}${path}` }),
    );
    const notify = (given: string, ...words: readonly string[]) =>
      sluice(['notify', ...words, '--config', config, '--json'], { HOOK: given }).ended;
    const taken = await notify(secret, 'test', 'one');
    expect(JSON.parse(taken.output)).toMatchObject({
      subscription: 'one',
      event: 'run.ended',
      status: 204,
      reason: null,
    });
    expect(taken.code).toBe(0);
    const refused = await notify(secretOf('2'), 'test', 'one');
    expect(JSON.parse(refused.output)).toMatchObject({ reason: 'refused', message: `127.0.0.1:${port} answered 401.` });
    expect(refused.code).toBe(1);
    expect(said.match(/sluice\.run\.ended test/g)).toHaveLength(1);
    const { output } = await notify('', 'list');
    expect(JSON.parse(output)).toMatchObject({
      subscriptions: [{ name: 'one', made_by: 'configuration', unset: ['HOOK'], behind: null }],
    });
    const { output: made } = await sluice(['notify', 'secret']).ended;
    expect(made).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
  } finally {
    program.kill();
  }
});
