import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import type { AddressInfo } from 'node:net';
import { calls, workflowConfiguration } from '../../harness/configurations.js';
import { eventually } from '../../harness/eventually.js';
import { sluice } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';

it('kill -9 while a mail is sent: it comes again with the same id and link, then no more, and one call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mail-killed-'));
  const journal = join(folder, 'resets');
  const config = join(folder, 'sluice.yaml');
  const mails: string[] = [];
  let taken = (): void => {};
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        mails.push(Buffer.concat(parts).toString().replaceAll('=\r\n', '').replaceAll('=3D', '='));
        taken();
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const endpoint = await scriptedEndpoint([calls.reset], 5);
  const written = workflowConfiguration()
    .replace(/^policy:$/m, "policy:\n  approval: { approvers: ['user:ann'] }")
    .replace('server.mjs"]', `server.mjs", --journal, "${journal}"]`);
  writeFileSync(
    config,
    `${written}model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
notify:
  base_url: https://sluice.example.org
  private_hosts: ['127.0.0.1']
  mail:
    board: { from: sluice@example.org, to: [ann@example.org], server_env: MAIL_SERVER, link_secret_env: MAIL_LINKS }
`,
  );
  const variables = {
    ...{ SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config },
    ...{ MAIL_SERVER: `smtp://127.0.0.1:${String(port)}`, MAIL_LINKS: 'a secret of links, long enough' },
  };
  const start = async () => {
    const program = sluice(['start'], variables);
    await program.says('It keeps serving');
    return program;
  };
  let services = await start();
  try {
    // The mail is there, and who sent it is gone before it reads that.
    taken = () => void services.process.kill('SIGKILL');
    const ask = sluice(['ask', 'Begin', '--group', '*', '--state', 'analysis', '--session', 's'], variables);
    await services.ended;
    taken = () => {};
    services = await start();
    await eventually(
      () => mails.length,
      (count) => count > 1,
    );
    services.process.kill('SIGKILL');
    await services.ended;
    services = await start();
    const { output } = await sluice(['approvals', 'list', '--json'], variables).ended;
    const { approval_id: id } = JSON.parse(output.trim()) as { approval_id: string };
    await sluice(['approvals', 'approve', id, '--as', 'user:ann'], variables).ended;
    expect((await ask.ended).code).toBe(0);
    const parts = [/^message-id: (.*)$/im, /mail-links\/(\S+)/];
    for (const part of parts) {
      const found = mails.map((mail) => part.exec(mail)?.[1]);
      expect([found.includes(undefined), new Set(found).size]).toEqual([false, 1]);
    }
    // The second kill may fall between a mail and its note too.
    expect(mails.length).toBeLessThanOrEqual(3);
    expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1);
  } finally {
    services.process.kill('SIGTERM');
    await services.ended;
    await endpoint.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    rmSync(folder, { recursive: true, force: true });
  }
}, 240_000);
