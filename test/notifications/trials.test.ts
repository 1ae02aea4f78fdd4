import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { sluice } from '../harness/program.js';
import { secretOf } from './receiver.js';
import { botToken, startSlack } from './slack-server.js';
import type { Slack } from './slack-server.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-trials-'));
const config = join(folder, 'sluice.yaml');

describe('`sluice notify test`', () => {
  let slack: Slack;
  let server: SMTPServer;
  const mails: string[] = [];
  let mailPort = 0;
  beforeAll(async () => {
    slack = await startSlack();
    server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('no such user as sluice')),
      onRcptTo: ({ address }, _, done) =>
        address.startsWith('gone') ? done(Object.assign(new Error('no one'), { responseCode: 550 })) : done(),
      onData: (stream, _, done) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          mails.push(Buffer.concat(parts).toString());
          done();
        });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    mailPort = (server.server.address() as AddressInfo).port;
    writeFileSync(
      config,
      `tool: { get_current_time: { type: get_current_time } }
policy: { allowed_tools: [get_current_time], approval: { approvers: ['user:ann'], on_behalf: { 'service:slack': ['user:*'] } } }
identity: { provider: api-keys }
notify:
  base_url: https://sluice.example.org
  private_hosts: ['${slack.host}', '127.0.0.1:${String(mailPort)}']
  subscriptions: { desk: { url: 'https://hooks.example.org/x', events: [run.ended], secret_env: HOOK, previous_secret_env: FORMER } }
  slack:
    ops: { channel: C1, api_url: '${slack.url}', token_env: TOKEN, signing_secret_env: SIGNING, credential_env: KEY, users: { T1/U1: 'user:ann' } }
  mail:
    board: { from: sluice@example.org, to: [ann@example.org, bob@example.org], server_env: SERVER, link_secret_env: LINKS }
    former: { from: sluice@example.org, to: [ann@example.org, gone@example.org], server_env: SERVER, link_secret_env: LINKS }
`,
    );
  });
  afterAll(async () => {
    await slack.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (words: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
    sluice(['notify', ...words, '--config', config], variables).ended;
  const smtp = (password: string, port = mailPort) => `smtp://sluice:${password}@127.0.0.1:${String(port)}`;
  const mailed = () => ({ SERVER: smtp('right'), LINKS: 'a secret of links, long enough' });

  it('posts in a channel of Slack, which asks for nothing, and says what Slack refuses and how to change that', async () => {
    const taken = await run(['test', 'ops', '--json'], { TOKEN: botToken });
    expect(JSON.parse(taken.output)).toMatchObject({
      ...{ subscription: 'ops', kind: 'slack', event: null, status: null, reason: null, message: null },
      id: slack.messages[0]?.ts,
    });
    expect(taken.code).toBe(0);
    expect(slack.problems).toEqual([]);
    expect(JSON.stringify(slack.messages)).not.toMatch(/sluice_(approve|refuse)/);
    const said = await run(['test', 'ops'], { TOKEN: botToken });
    expect(said.output).toContain('✓ Slack took a message in the channel C1 of the workspace T1');
    expect(said.output).toContain('SIGNING, KEY');

    for (const [trouble, variables, reason, sentence] of [
      [null, { TOKEN: 'xoxb-wrong' }, 'refused', /auth\.test: invalid_auth\. Put the bot token .* into TOKEN\.$/],
      [['chat.postMessage', 'channel_not_found'], {}, 'refused', /notify\.slack\.ops\.channel, and invite the app/],
      [['conversations.history', 'missing_scope'], {}, 'refused', /channels:history/],
      [null, { TOKEN: '' }, 'secret', /The variable TOKEN with its secret is not set\./],
    ] as const) {
      slack.state.trouble = (method) => (method === trouble?.[0] ? `refused:${trouble[1]}` : null);
      const refused = await run(['test', 'ops', '--json'], { TOKEN: botToken, ...variables });
      expect(JSON.parse(refused.output)).toMatchObject({ reason, id: null, message: expect.stringMatching(sentence) });
      expect(refused.code).toBe(1);
    }
  });

  it('mails each address that nothing waits, and says what the mail server refuses, without its words', async () => {
    const taken = await run(['test', 'board'], mailed());
    expect([taken.code, taken.output]).toEqual([
      0,
      '✓ The mail server took a mail to ann@example.org, bob@example.org.\n',
    ]);
    expect(mails).toHaveLength(2);
    for (const mail of mails) expect(mail).toMatch(/^Subject: A trial of Sluice\r$/m);
    expect(new Set(mails.map((mail) => /^Message-ID: (.*)\r$/m.exec(mail)?.[1])).size).toBe(2);

    for (const [name, variables, reason, sentence] of [
      ['board', { SERVER: smtp('wrong') }, 'refused', /did not take the user and password in SERVER \(535\)\.$/],
      ['former', {}, 'refused', /^gone@example\.org: .* a recipient of notify\.mail\.former\.to \(550\)\.$/],
      ['board', { SERVER: smtp('right', 1) }, 'unreachable', /cannot be reached at the address in SERVER/],
      ['board', { SERVER: 'mail.example.org' }, 'secret', /SERVER holds no smtp:\/\/ or smtps:\/\/ address\./],
      ['board', { LINKS: 'short' }, 'secret', /LINKS holds less than 24 bytes\./],
    ] as const) {
      const { code, output } = await run(['test', name, '--json'], { ...mailed(), ...variables });
      expect([name, code, JSON.parse(output)]).toEqual([
        name,
        1,
        expect.objectContaining({ kind: 'mail', reason, message: expect.stringMatching(sentence) }),
      ]);
      expect(output).not.toMatch(/no such user|no one|right|wrong/);
    }
    const other = await run(['test', 'board', '--event', 'run.ended'], mailed());
    expect([other.code, other.output + other.errors]).toEqual([1, expect.stringContaining('--event is for webhooks')]);
  });

  it('is known to `sluice notify list` by the variables that are missing', async () => {
    const { output } = await run(['list', '--json'], { HOOK: secretOf('1'), TOKEN: botToken });
    const { subscriptions } = JSON.parse(output) as { subscriptions: readonly { name: string; unset: unknown }[] };
    expect(subscriptions.map(({ name, unset }) => [name, unset])).toEqual([
      ['desk', ['FORMER']],
      ['ops', ['SIGNING', 'KEY']],
      ['board', ['SERVER', 'LINKS']],
      ['former', ['SERVER', 'LINKS']],
    ]);
    const shown = await run(['list'], { HOOK: secretOf('1'), TOKEN: botToken });
    expect(shown.output).toContain('run.ended; not set here: FORMER\n');
  });
});
