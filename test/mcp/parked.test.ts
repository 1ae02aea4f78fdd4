import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { itemOf, localPrincipal, scopeOf } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { cancelRun, CallerForms } from '@sluice/run';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { asked as approvalAsked, decide } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import { replayed } from '../replay/replaying.js';
import { clientInfo, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

/** What a request of a call brought. */
interface Request {
  readonly on: string;
  readonly answers: unknown;
  readonly state: unknown;
}

interface AskingServer {
  readonly url: string;
  readonly requests: Request[];
  /** On what each call was done. */
  readonly done: string[];
  close(): void;
}

/** A server of 2026-07-28 whose tools ask for a seat, as often as their argument says, before they do anything. */
async function askingServer(): Promise<AskingServer> {
  const [requests, done]: [Request[], string[]] = [[], []];
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'seats', version: '1' }, { capabilities: { tools: {} } });
    const properties = { on: { type: 'string' }, forms: { type: 'integer' }, same: { type: 'boolean' } } as const;
    const inputSchema = { type: 'object', properties } as const;
    server.setRequestHandler('tools/list', () => ({ tools: ['book', 'look'].map((name) => ({ name, inputSchema })) }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const { on, forms = 1, same = false } = params.arguments as { on: string; forms?: number; same?: boolean };
      const state = mcpReq.requestState();
      requests.push({ on, answers: mcpReq.inputResponses ?? null, state });
      const asked = Number(state ?? 0);
      const answer = mcpReq.inputResponses?.['seat'] as { action: string; content?: JsonObject } | undefined;
      if (answer !== undefined && answer.action !== 'accept')
        return { content: [{ type: 'text', text: `No seat: ${answer.action}` }] };
      if (asked === forms) {
        done.push(on);
        return { content: [{ type: 'text', text: `Seat ${String(answer?.content?.['seat'])}` }] };
      }
      const seat = inputRequired.elicit({
        message: same ? `Which seat for ${on}?` : `Which seat for ${on}, ${asked + 1}?`,
        requestedSchema: { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
      });
      return inputRequired({ inputRequests: { seat }, requestState: String(asked + 1) });
    });
    return server;
  });
  const http = createServer(toNodeHandler(handler) as RequestListener);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, requests, done, close: () => void http.close() };
}

const configuration = (url: string, more: { approval?: string; parked?: number } = {}): string => `
tool:
  book: { type: mcp-tool, group: [seats], timeout_seconds: 2 }
  look: { type: mcp-tool, group: [seats], timeout_seconds: 2 }
mcp:
  servers: { seats: { url: "${url}" } }
  tools:
    book: { server: seats, tool: book, effect: external_side_effect, redaction: whole }
    look: { server: seats, tool: look, effect: read_only, redaction: whole }
policy: { allowed_tools: [book, look], approval: { none: "A test."${more.approval ?? ''} } }
limits: { run_seconds: 4${more.parked === undefined ? '' : `, parked_seconds: ${more.parked}`} }
`;

type Answer = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonObject };

/** A client of 2026-07-28 that shows forms. */
async function clientOf(url: string, answer: (message: string) => Answer | Promise<Answer>): Promise<Client> {
  const client = new Client(clientInfo, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  client.setRequestHandler('elicitation/create', async ({ params }) => (await answer(params.message)) as never);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

const seat = (text: string): Answer => ({ action: 'accept', content: { seat: text } });

describe('a call that is parked while its caller has a form', () => {
  let server: AskingServer;
  let system: McpSystem;
  const opened: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await askingServer();
    system = await startMcpSystem(configuration(server.url));
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    await system.close();
    server.close();
  });

  const connected = async (
    answer: Parameters<typeof clientOf>[1],
    url = system.mcp.url,
  ): Promise<(tool: string, on: string, more?: JsonObject) => Promise<unknown>> => {
    const client = await clientOf(url, answer);
    opened.push(() => client.close());
    return (tool, on, more = {}) =>
      client.callTool({ name: `seats___${tool}`, arguments: { on, ...more } }, { timeout: 60_000 });
  };
  const requestsOn = (on: string): readonly Request[] => server.requests.filter((request) => request.on === on);
  const asked = async (of: Pick<McpSystem, 'all'> = system) =>
    (await of.all('agent.approvals')).flatMap(({ record }) => record.requested ?? []);
  const lastStep = async (of: Pick<McpSystem, 'all'> = system) => (await of.all('agent.steps')).at(-1)?.record.steps[0];

  it.each(['book', 'look'])(
    'goes on with the answer once that is there, longer than its run may last (%s)',
    async (tool) => {
      const call = await connected(async () => {
        await eventually(asked, (all) => all.some(({ question, tool: id }) => question !== null && id.includes(tool)));
        // The run may last 4 s.
        if (tool === 'book') await sleep(4_500);
        return seat('1A');
      });
      expect(await call(tool, `waits-${tool}`)).toMatchObject({ content: [{ type: 'text', text: 'Seat 1A' }] });
      expect(requestsOn(`waits-${tool}`).map(({ answers, state }) => [answers, state])).toEqual([
        [null, undefined],
        [{ seat: seat('1A') }, '1'],
      ]);
      expect(server.done.filter((on) => on === `waits-${tool}`)).toHaveLength(1);
      const step = await lastStep();
      expect(step?.questions).toEqual([
        expect.objectContaining({ kind: 'elicitation', server: 'seats', outcome: 'answered', by: 'user:local' }),
      ]);
      const [question] = step?.questions ?? [];
      if (tool === 'book') expect((question?.endedAt ?? 0) - (question?.askedAt ?? 0)).toBeGreaterThan(4_400);
    },
    60_000,
  );

  it.each([false, true])('asks once more, and is parked once more (for the same: %s)', async (same) => {
    const before = (await asked()).length;
    const on = `twice-${String(same)}`;
    const shown: string[] = [];
    const call = await connected(async (message) => {
      shown.push(message);
      await eventually(asked, (all) => all.length === before + shown.length);
      return seat(`${shown.length}B`);
    });
    expect(await call('book', on, { forms: 2, same })).toMatchObject({ content: [{ type: 'text', text: 'Seat 2B' }] });
    expect(shown.map((message) => message.endsWith(same ? `${on}?` : `${on}, ${shown.indexOf(message) + 1}?`))).toEqual(
      [true, true],
    );
    expect(requestsOn(on)).toHaveLength(3);
    expect((await asked()).slice(before).map(({ question }) => question?.round)).toEqual([1, 2]);
  });

  it('says to its server that its caller declined', async () => {
    const before = (await asked()).length;
    const call = await connected(async () => {
      await eventually(asked, (all) => all.length > before);
      return { action: 'decline' };
    });
    expect(await call('book', 'declined')).toMatchObject({ content: [{ type: 'text', text: 'No seat: decline' }] });
    expect((await lastStep())?.questions).toMatchObject([{ outcome: 'declined' }]);
  });

  it('shows the form to a client that makes the call again, and is listed for no approver', async () => {
    const never = new Promise<Answer>(() => undefined);
    const before = (await asked()).length;
    const left = await connected(() => never);
    void left('book', 'again').catch(() => undefined);
    await eventually(asked, (all) => all.length > before);
    const { approvalId, arguments: shownArguments } = (await asked()).at(-1) as Awaited<ReturnType<typeof asked>>[0];
    expect([approvalId.startsWith('q-'), shownArguments]).toEqual([true, '{}']);
    const call = await connected(() => seat('3C'));
    expect(await call('book', 'again')).toMatchObject({ content: [{ type: 'text', text: 'Seat 3C' }] });
    expect([requestsOn('again').length, server.done.filter((on) => on === 'again').length]).toEqual([2, 1]);
  });

  it('is replayed to the same decisions', async () => {
    const decided = await replayed(system.bus, null);
    expect(decided.filter(({ kind }) => kind === 'approval asked').length).toBeGreaterThan(4);
    expect(decided.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('ends with its time, with its run, and where a door or what it needs is lost', async () => {
    const own = await startMcpSystem(configuration(server.url, { parked: 8 }));
    opened.push(() => own.close());
    const never = new Promise<Answer>(() => undefined);
    const left = await connected(() => never, own.mcp.url);
    const ends = ['expired', 'lost', 'cancelled', 'gone'];
    for (const on of ends) void left('book', on).catch(() => undefined);
    void left('look', 'gone-look').catch(() => undefined);
    await eventually(
      () => asked(own),
      (all) => all.length === ends.length + 1,
    );
    const runs = new Map(
      (await own.all('agent.calls')).map(({ record }) => {
        const { on } = JSON.parse(record.call?.arguments ?? '') as { on: string };
        return [on, { requestId: record.requestId as string, tenant: localPrincipal.tenantId }];
      }),
    );
    const runOn = (on: string) => runs.get(on) as { requestId: string; tenant: string };
    const { runtime } = own.embedded;
    const forms = new CallerForms(runtime);
    // A door that ends behind the answer, before the decision is on the log.
    const form = await forms.waiting(runOn('lost'));
    await forms.answer(runOn('lost'), form?.id ?? '', { action: 'accept', content: { seat: '5E' } });
    await cancelRun(runOn('cancelled').requestId, localPrincipal, '', runtime);
    for (const on of ['gone', 'gone-look']) await forms.withdraw(runOn(on));
    const found = await eventually(
      async () => new Map((await own.all('agent.steps')).map(({ record }) => [record.requestId, record.steps[0]])),
      (steps) => steps.size === ends.length + 1,
    );
    const stepOn = (on: string) => found.get(runOn(on).requestId);
    expect(stepOn('expired')).toMatchObject({ outcome: 'ok', questions: [{ outcome: 'cancelled', by: null }] });
    expect(requestsOn('expired').map(({ answers }) => answers)).toEqual([null, { seat: { action: 'cancel' } }]);
    expect(stepOn('lost')).toMatchObject({ outcome: 'ok', questions: [{ outcome: 'answered', by: 'user:local' }] });
    expect(stepOn('cancelled')).toMatchObject({ outcome: 'execution', reason: 'outcome_unknown' });
    expect(stepOn('gone')).toMatchObject({ outcome: 'execution', reason: 'outcome_unknown' });
    expect(stepOn('gone-look')).toMatchObject({ outcome: 'unavailable' });
    expect(['cancelled', 'gone', 'gone-look'].map((on) => requestsOn(on).length)).toEqual([1, 1, 1]);
    const decided = await replayed(own.bus, null);
    expect(decided.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  }, 60_000);

  it('ends soon where what it needs is lost, however long it may wait', async () => {
    const own = await startMcpSystem(configuration(server.url, { parked: 3_600 }));
    opened.push(() => own.close());
    const left = await connected(() => new Promise<Answer>(() => undefined), own.mcp.url);
    void left('book', 'lost-form').catch(() => undefined);
    const [question] = await eventually(
      () => asked(own),
      (all) => all.length === 1,
    );
    const { requestId = '' } = question ?? {};
    await new CallerForms(own.embedded.runtime).withdraw({ requestId, tenant: localPrincipal.tenantId });
    const step = await eventually(
      () => lastStep(own),
      (found) => found !== undefined,
    );
    expect(step).toMatchObject({ outcome: 'execution', reason: 'outcome_unknown' });
    const outcomes = (await own.all('agent.approvals')).flatMap(({ record }) => record.outcome ?? []);
    expect(outcomes).toMatchObject([{ decision: 'expire', reason: expect.stringContaining('no longer kept') }]);
    expect((await replayed(own.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  }, 60_000);

  it('goes on with the arguments that its approver gave it, and is approved once', async () => {
    const approved = configuration(server.url).replace('none: "A test."', "approvers: ['*']");
    const own = await startMcpSystem(approved);
    opened.push(() => own.close());
    let forms = 0;
    const call = await connected(async (message) => {
      if (!message.includes('Which seat for edited')) return { action: 'cancel' };
      forms++;
      await eventually(
        () => asked(own),
        (all) => all.length === 1 + forms,
      );
      return seat('7G');
    }, own.mcp.url);
    await call('book', 'as-written');
    const edited = '{"on":"edited","forms":2}';
    await decide(own, await approvalAsked(own), 'approve', { editedArguments: edited, editedHash: sha256(edited) });
    expect(await call('book', 'as-written')).toMatchObject({
      content: expect.arrayContaining([{ type: 'text', text: 'Seat 7G' }]) as unknown,
    });
    expect([requestsOn('as-written').length, requestsOn('edited').length, server.done.includes('edited')]).toEqual([
      0,
      3,
      true,
    ]);
    const approvals = (await asked(own)).filter(({ question }) => question === null);
    expect(approvals).toHaveLength(1);
    expect(await lastStep(own)).toMatchObject({ outcome: 'ok', edited: { arguments: edited } });
    expect((await replayed(own.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  }, 60_000);

  it('counts once for rules on the past, is under way while it waits, and does not stand in its own way', async () => {
    const rule = `
rules:
  one-seat:
    tools: [book, look]
    history: { within: user, in_last: 1h, at_most: 1, not_after: [look], not_while_running: [book] }
    totals: [{ of: calls, at_most: 1, per: user, within: 1h }]
`;
    for (const tool of ['book', 'look']) {
      const own = await startMcpSystem(configuration(server.url) + rule);
      opened.push(() => own.close());
      const { past, clock } = own.embedded.runtime;
      const beside = await connected(() => ({ action: 'cancel' }), own.mcp.url);
      const on = `counted-${tool}`;
      const call = await connected(async () => {
        const [question] = await eventually(
          () => asked(own),
          (all) => all.length === 1,
        );
        const item = itemOf('calls', question?.tool ?? '');
        const scope = scopeOf('user', {
          ...localPrincipal,
          userId: 'user:local',
          sessionId: '',
          requestId: '',
          agent: '',
        });
        // Its time limit is 2 s.
        const [count] = await past.read([{ scope, item, since: 0 }], clock.now() + 3_600_000);
        expect(count).toMatchObject({ calls: 1, running: 1 });
        expect(await beside('book', `beside-${tool}`)).toMatchObject({ isError: true });
        return seat('8H');
      }, own.mcp.url);
      expect(await call(tool, on)).toMatchObject({ content: [{ type: 'text', text: 'Seat 8H' }] });
      expect([requestsOn(on).length, requestsOn(`beside-${tool}`).length]).toEqual([2, 0]);
      expect(await beside('book', `behind-${tool}`)).toMatchObject({ isError: true });
      expect((await replayed(own.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    }
  }, 60_000);

  it('outlasts a restart of all services', async () => {
    const own = await startMcpSystem(configuration(server.url));
    const never = new Promise<Answer>(() => undefined);
    const left = await connected(() => never, own.mcp.url);
    void left('book', 'restart').catch(() => undefined);
    await eventually(
      () => asked(own),
      (all) => all.length === 1,
    );
    await own.mcp.close();
    const again = await own.restart();
    opened.push(() => again.close());
    const mcp = await startMcp(again.embedded.runtime);
    opened.push(() => mcp.close());
    const call = await connected(() => seat('4D'), mcp.url);
    expect(await call('book', 'restart')).toMatchObject({ content: [{ type: 'text', text: 'Seat 4D' }] });
    expect([requestsOn('restart').length, server.done.filter((on) => on === 'restart').length]).toEqual([2, 1]);
  }, 60_000);

  it('is refused where its tool is no longer allowed, and what was sent of it is not repeated', async () => {
    const own = await startMcpSystem(configuration(server.url));
    const never = new Promise<Answer>(() => undefined);
    const left = await connected(() => never, own.mcp.url);
    void left('book', 'denied').catch(() => undefined);
    await eventually(
      () => asked(own),
      (all) => all.length === 1,
    );
    await own.mcp.close();
    await writeFile(own.configFile, configuration(server.url).replace('[book, look]', '[look]'));
    const again = await own.restart();
    opened.push(() => again.close());
    const mcp = await startMcp(again.embedded.runtime);
    opened.push(() => mcp.close());
    const call = await connected(() => seat('6F'), mcp.url);
    expect(await call('book', 'denied')).toMatchObject({
      isError: true,
      _meta: { 'sluice/error': { reason: 'outcome_unknown' } },
    });
    expect([requestsOn('denied').length, server.done.includes('denied')]).toEqual([1, false]);
  }, 60_000);
});
