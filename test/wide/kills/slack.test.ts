import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { calls, workflowConfiguration } from '../../harness/configurations.js';
import { eventually } from '../../harness/eventually.js';
import { sluice } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { botToken, startSlack } from '../../notifications/slack-server.js';

it('kill -9 while Slack is asked: one message, which says the decision in the end, and one call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-slack-killed-'));
  const journal = join(folder, 'resets');
  const config = join(folder, 'sluice.yaml');
  const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config, SLACK_TOKEN: botToken };
  const slack = await startSlack();
  const endpoint = await scriptedEndpoint([calls.reset], 5);
  const written = workflowConfiguration()
    .replace(/^policy:$/m, "policy:\n  approval: { approvers: ['user:ann'] }")
    .replace('server.mjs"]', `server.mjs", --journal, "${journal}"]`);
  writeFileSync(
    config,
    `${written}model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
notify:
  private_hosts: ['${slack.host}']
  slack: { ops: { channel: C1, token_env: SLACK_TOKEN, api_url: '${slack.url}' } }
`,
  );
  const start = async () => {
    const program = sluice(['start'], variables);
    await program.says('It keeps serving');
    return program;
  };
  let services = await start();
  try {
    const killAt = (wanted: string): void => {
      let isKilled = false;
      // Slack does what it was asked, and who asked is gone before it reads that.
      slack.state.trouble = (method) => {
        if (method !== wanted || isKilled) return null;
        isKilled = true;
        services.process.kill('SIGKILL');
        return 'lost';
      };
    };
    killAt('chat.postMessage');
    const ask = sluice(['ask', 'Begin', '--group', '*', '--state', 'analysis', '--session', 's'], variables);
    await services.ended;
    services = await start();
    const updates = () => slack.calls.filter(({ method }) => method === 'chat.update').length;
    await eventually(updates, (count) => count > 0);
    expect(slack.messages).toHaveLength(1);

    killAt('chat.update');
    const { output } = await sluice(['approvals', 'list', '--json'], variables).ended;
    const { approval_id: id } = JSON.parse(output.trim()) as { approval_id: string };
    await sluice(['approvals', 'approve', id, '--as', 'user:ann'], variables).ended;
    await services.ended;
    const before = updates();
    services = await start();
    await eventually(updates, (count) => count > before);
    expect((await ask.ended).code).toBe(0);
    expect(slack.messages.map(({ text }) => text)).toEqual(['Approved: reset-workflow, by user:ann.']);
    expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1);
    expect(slack.problems).toEqual([]);
  } finally {
    services.process.kill('SIGTERM');
    await services.ended;
    await endpoint.close();
    await slack.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 240_000);
