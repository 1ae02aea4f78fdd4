import { afterEach, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import type { AddressInfo } from 'node:net';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { linkIn, linkToken } from '@sluice/notify';
import { anyone, asked, configured, decide } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

interface Mail {
  readonly to: string;
  readonly text: string;
}

/** A mail server; `answers` may refuse a mail once it has it. */
async function startMailServer(answers: (count: number) => Error | null) {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      username === 'sluice' && password === 'p@ss' ? done(null, { user: username }) : done(new Error('no')),
    onData: (stream, { envelope }, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address).join();
        // As mails carry long lines: quoted-printable.
        const text = Buffer.concat(parts).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
        mails.push({ to, text });
        done(answers(mails.length));
      });
    },
    allowInsecureAuth: true,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return { mails, port, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

let system: TestSystem | undefined;
let gateway: Gateway | undefined;
let mailbox: Awaited<ReturnType<typeof startMailServer>> | undefined;
afterEach(async () => {
  await gateway?.close();
  await system?.close();
  await mailbox?.close();
  system = gateway = mailbox = undefined;
});

it('mails each approver once that a call waits, with a link that works once and decides nothing', async () => {
  let refusals = 1;
  const server = await startMailServer((count) =>
    count === 2 && refusals-- > 0 ? Object.assign(new Error('later'), { responseCode: 451 }) : null,
  );
  mailbox = server;
  const secrets: Record<string, string> = {
    SERVER: `smtp://sluice:p%40ss@127.0.0.1:${String(server.port)}`,
    LINKS: 'a secret of links, long enough',
  };
  const notify = `notify:
  base_url: https://sluice.example.org
  private_hosts: ['127.0.0.1']
  mail:
    board: { from: sluice@example.org, to: [ann@example.org, bob@example.org], server_env: SERVER, link_secret_env: LINKS }
`;
  const model = new ScriptedModel(inOrder({ calls: [calls.reset] }, { answer: 'Done' }));
  const opened = (system = await startSystem(`${configured(anyone)}\n${notify}`, model, undefined, {
    secret: (variable) => secrets[variable],
  }));
  const { url } = (gateway = await startGateway(opened.embedded.runtime));
  const end = opened.ask({ question: 'A private matter?', group: ['*'], state: 'analysis', requestId: 'run-1' });
  const waiting = await asked(opened);
  const { approvalId } = waiting.requested;
  // The second one is refused for now: the first is not sent again.
  const mails = await eventually(
    () => server.mails,
    ({ length }) => length === 3,
  );
  const failures = { subscription: 'board', kind: 'mail', reason: 'failed' };
  expect(await opened.metric('sluice_notification_failures_total', failures)).toBe(1);
  expect(mails.map(({ to }) => to)).toEqual(['ann@example.org', 'bob@example.org', 'bob@example.org']);
  const idOf = ({ text }: Mail): string => /^message-id: (.*)$/im.exec(text)?.[1] ?? '';
  expect(mails.map(idOf)).toEqual([idOf(mails[0] as Mail), idOf(mails[1] as Mail), idOf(mails[1] as Mail)]);
  expect(idOf(mails[0] as Mail)).not.toBe(idOf(mails[1] as Mail));
  for (const { text } of mails) {
    expect(text).toContain('reset-workflow');
    expect(text).not.toMatch(/private/);
  }
  const tokenOf = ({ text }: Mail): string =>
    /https:\/\/sluice\.example\.org\/v1\/mail-links\/(\S+)/.exec(text)?.[1] ?? '';
  const tokens = mails.map(tokenOf);
  expect(tokens[1]).toBe(tokens[2]);
  const link = linkIn(tokens[0] ?? '', secrets['LINKS'] ?? '');
  expect(link?.approvalId).toBe(approvalId);

  const open = (token: string, method: string) =>
    fetch(`${url}/v1/mail-links/${token}`, { method, redirect: 'manual' });
  for (const times of [1, 2]) {
    const looked = await open(tokens[0] ?? '', 'GET');
    expect([times, looked.status]).toEqual([times, 200]);
    expect(await looked.text()).toContain('<form method="post">');
  }
  const followed = await open(tokens[0] ?? '', 'POST');
  expect([followed.status, followed.headers.get('location')]).toEqual([303, `/approvals/${approvalId}`]);
  expect((await open(tokens[0] ?? '', 'POST')).status).toBe(410);
  const other = linkToken({ approvalId, expiresAt: Date.now() + 60_000, id: 'x' }, 'another secret, as long as it');
  const late = linkToken({ approvalId, expiresAt: Date.now() - 1, id: 'x' }, secrets['LINKS'] ?? '');
  for (const token of [other, late, 'x', `${tokens[1] ?? ''}x`, 'a.b.c']) {
    expect((await open(token, 'GET')).status).toBe(410);
    expect((await open(token, 'POST')).status).toBe(410);
  }
  // The other one’s link is its own.
  expect((await open(tokens[1] ?? '', 'POST')).status).toBe(303);
  await decide(opened, waiting, 'approve');
  await end;
}, 60_000);
