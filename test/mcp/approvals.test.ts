import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anyone, asked, configured, outcomes } from '../harness/approving.js';
import { localHeaders } from '../harness/local-headers.js';
import { clientInfo, newClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const update = (subject: string) => ({
  name: 'graph-update',
  arguments: { add: [{ subject, predicate: 'is', object: 'tested' }] },
});

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> };

/** A client that shows forms, in either era. */
async function formsClient(
  url: string,
  era: string,
  answer: (message: string) => Answer,
  headers: Readonly<Record<string, string>>,
): Promise<Client> {
  const options = { capabilities: { elicitation: { form: {} } } };
  const client = new Client(
    clientInfo,
    era === 'newer' ? { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } } : options,
  );
  client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

describe.each(['older', 'newer'])('a call that needs an approval, from a client with forms in the %s era', (era) => {
  let system: McpSystem;
  beforeAll(async () => {
    // Available in every state, so that the era without states sees it too.
    const configuration = configured(anyone).replace(
      'available_in_states: ["analysis", "modification"]',
      'group: ["write"]',
    );
    system = await startMcpSystem(configuration.replace('    group: ["write", "knowledge", "admin"]\n', ''));
  });
  afterAll(() => system.close());
  const secret = () => localHeaders(system.embedded.runtime);

  it('asks the person there, and runs when it is accepted (M-03)', async () => {
    const shown: string[] = [];
    const client = await formsClient(
      system.mcp.url,
      era,
      (message) => ({ action: (shown.push(message), 'accept'), content: { reason: 'Checked' } }),
      secret(),
    );
    expect(await client.callTool(update('accepted'))).toMatchObject({ isError: false });
    expect(shown).toEqual([
      expect.stringMatching(
        /needs an approval\.\n\nWhat it does: .{20,}\n\nWhy: policy\.approval asks .*\n\nIts arguments: \{\n[^]*accepted[^]*waits until 20.*Z\.$/,
      ),
    ]);
    const taken = (await outcomes(system)).at(-1);
    expect(taken).toMatchObject({ decision: 'approve', decidedBy: 'user:local', reason: 'Checked', notTaken: null });
    await client.close();
  });

  it('is refused when it is declined', async () => {
    const client = await formsClient(system.mcp.url, era, () => ({ action: 'decline' }), secret());
    const result = await client.callTool(update('declined'));
    expect(result).toMatchObject({ isError: true, _meta: { 'sluice/error': { reason: 'approval_refused' } } });
    await client.close();
  });

  it('stays pending when the person puts it off, or the client has no forms', async () => {
    const client = await formsClient(system.mcp.url, era, () => ({ action: 'cancel' }), secret());
    const pending = { isError: true, _meta: { 'sluice/approval': { status: 'pending' } } };
    expect(await client.callTool(update('put off'))).toMatchObject(pending);
    await client.close();
    const formless = await newClient(system.mcp.url);
    expect(await formless.callTool(update('formless'))).toMatchObject(pending);
    await formless.close();
  });
});

describe('a call that its caller may not approve', () => {
  it.each(['older', 'newer'])(
    'is not approved by a client of the %s era that has not the local secret',
    async (era) => {
      const system = await startMcpSystem(configured("{ approvers: ['*'], effects: [read_only] }"));
      let forms = 0;
      const client = await formsClient(system.mcp.url, era, () => ({ action: (forms++, 'accept') }), {
        authorization: 'Bearer wrong',
      });
      const call = { name: 'knowledge-query', arguments: { sparql: 'ASK {}' } };
      const pending = { _meta: { 'sluice/approval': { status: 'pending' } } };
      const result = await client.callTool(call);
      expect(result).toMatchObject({ ...pending, content: [{ text: expect.stringContaining('local secret') }] });
      expect(await client.callTool(call)).toMatchObject(pending);
      expect(forms).toBe(0);
      expect((await system.all('agent.approvals')).map(({ record }) => record.decided)).toEqual([null]);
      await client.close();
      await system.close();
    },
  );

  it('is not requested in the client', async () => {
    const system = await startMcpSystem(configured("{ approvers: ['user:ann'], effects: [read_only] }"));
    let forms = 0;
    const client = await formsClient(
      system.mcp.url,
      'newer',
      () => ({ action: (forms++, 'accept') }),
      localHeaders(system.embedded.runtime),
    );
    const call = { name: 'knowledge-query', arguments: { sparql: 'ASK {}' } };
    expect(await client.callTool(call)).toMatchObject({ _meta: { 'sluice/approval': { status: 'pending' } } });
    expect(forms).toBe(0);
    expect((await asked(system)).requested.requestedBy).toBe('user:local');
    await client.close();
    await system.close();
  });
});
