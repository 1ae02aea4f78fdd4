import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import pg from 'pg';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { KafkaReader } from '../../cluster/reader.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { startTimeout } from '../../infra/client.ts';
import { roundRobin } from '../../mcp/round-robin.js';
import type { RoundRobin } from '../../mcp/round-robin.js';
import { clientInfo } from '../../mcp/with-mcp.js';
import { formServer, newerFormServer } from './form-server.js';
import type { FormServer } from './form-server.js';

/** A client with a person who answers once that is wanted. */
interface Person {
  /** The forms that were shown. */
  readonly shown: string[];
  answer(seat: string): void;
  call(tool: string, on: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Step {
  readonly outcome: string;
  readonly reason: string | null;
  readonly questions: readonly { readonly kind: string; readonly outcome: string; readonly by: string | null }[];
}

const eras = ['older', 'newer'] as const;

describe('kill -9 while a form of an MCP server waits for a person, on Kafka and PostgreSQL', () => {
  let server: FormServer;
  let newer: FormServer;
  let cluster: Cluster;
  let executor: Program;
  let doors: Program[];
  let proxy: RoundRobin;
  let reader: KafkaReader;
  let database: pg.Client;
  let documents: string;

  beforeAll(async () => {
    [server, newer] = await Promise.all([formServer(), newerFormServer()]);
    cluster = await openCluster(
      `
tool:
  book: { type: mcp-tool, group: [seats], timeout_seconds: 5 }
  look: { type: mcp-tool, group: [seats], timeout_seconds: 5 }
  take: { type: mcp-tool, group: [newer], timeout_seconds: 5 }
mcp:
  servers: { seats: { url: "${server.url}" }, newer: { url: "${newer.url}" } }
  tools:
    book: { server: seats, tool: book, effect: external_side_effect, redaction: whole }
    look: { server: seats, tool: look, effect: read_only, redaction: whole }
    take: { server: newer, tool: book, effect: external_side_effect, redaction: whole }
policy: { allowed_tools: [book, look, take], approval: { none: "A test." } }
limits: { run_seconds: 200 }
`,
      { SLUICE_DRAIN_SECONDS: '1' },
    );
    const { DATABASE_URL: connectionString, SLUICE_PREFIX: prefix } = cluster.variables;
    documents = `${pg.escapeIdentifier(`sluice_${prefix}`)}.sluice_documents`;
    database = new pg.Client({ connectionString });
    await database.connect();
    const roles = ['filter', 'agent', 'executor'] as const;
    const [, , first] = await Promise.all(roles.map((role) => cluster.start(role)));
    executor = first as Program;
    doors = await Promise.all([cluster.start('mcp'), cluster.start('mcp')]);
    proxy = await roundRobin(doors.map(urlOf));
    reader = await KafkaReader.open(cluster);
  }, startTimeout);
  afterAll(async () => {
    await reader?.close();
    await proxy?.close();
    await database?.end();
    await cluster?.close();
    await server?.close();
    await newer?.close();
  }, 60_000);

  /** What waits in the ledger’s database, and what was answered there. */
  const kept = async (): Promise<readonly string[]> => {
    const { rows } = await database.query<{ text: string }>(
      `select text from ${documents} where key like 'question/%' and text <> 'null'`,
    );
    return rows.map(({ text }) => text);
  };
  const steps = (): readonly Step[] => [...reader.steps.values()].flat() as unknown as readonly Step[];

  async function anotherExecutor(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    executor.process.kill(signal);
    await executor.ended;
    executor = await cluster.start('executor');
  }

  async function begun(person: Person, tool: string, on: string): Promise<{ readonly result: Promise<unknown> }> {
    const result = person.call(tool, on);
    result.catch(() => undefined);
    await eventually(
      () => person.shown.length,
      (count) => count === 1,
    );
    expect(await kept()).toHaveLength(1);
    return { result };
  }

  it.each(eras)(
    'of the executor, in a call with an effect: it is not made again, and a later answer reaches no server (%s era)',
    async (era) => {
      const person = await connected(era, proxy.url);
      const on = `effect-${era}`;
      const { result } = await begun(person, 'book', on);
      const before = steps().length;
      await anotherExecutor();
      await eventually(steps, (all) => all.length > before);
      expect(steps().at(-1)).toMatchObject({ outcome: 'execution', reason: 'outcome_unknown', questions: [] });
      await eventually(kept, (all) => all.length === 0);
      person.answer('1A');
      expect(await result).toMatchObject({ isError: true, _meta: { 'sluice/error': { reason: 'outcome_unknown' } } });
      expect([person.shown.length, server.begun.get(on), server.done.get(on)]).toEqual([1, 1, undefined]);
      expect(await kept()).toEqual([]);
      await person.close();
    },
    180_000,
  );

  it.each([...eras.map((era) => [era, 'SIGKILL'] as const), ['older', 'SIGTERM']] as const)(
    'of the executor, in a read-only call: it is made again, the person is asked once, and the answer counts (%s era, %s)',
    async (era, signal) => {
      const person = await connected(era, proxy.url);
      const on = `read-${era}-${signal}`;
      const { result } = await begun(person, 'look', on);
      await anotherExecutor(signal);
      await eventually(
        () => server.begun.get(on),
        (count) => count === 2,
      );
      // Longer than a door is waited for that shows the form.
      await sleep(4_000);
      person.answer('2B');
      expect(await result).toMatchObject({ isError: false, content: [{ type: 'text', text: 'Seat 2B' }] });
      expect([person.shown.length, server.done.get(on)]).toEqual([1, 1]);
      await eventually(steps, (all) => all.at(-1)?.outcome === 'ok');
      const [asked, ...others] = steps().at(-1)?.questions ?? [];
      expect([asked, others]).toEqual([
        expect.objectContaining({ kind: 'elicitation', outcome: 'answered', by: expect.any(String) }),
        [],
      ]);
      expect(await kept()).toEqual([]);
      await person.close();
    },
    180_000,
  );

  it.each(eras)(
    'of the MCP server of Sluice: the form stays, and the answer counts at the other instance (%s era)',
    async (era) => {
      proxy.only = 0;
      const person = await connected(era, proxy.url);
      const on = `door-${era}`;
      const { result } = await begun(person, 'book', on);
      proxy.only = 1;
      doors[0]?.process.kill('SIGKILL');
      await doors[0]?.ended;
      person.answer('3C');
      expect(await result).toMatchObject({ isError: false, content: [{ type: 'text', text: 'Seat 3C' }] });
      expect([person.shown.length, server.begun.get(on), server.done.get(on)]).toEqual([1, 1, 1]);
      expect(await kept()).toEqual([]);
      await person.close();
      doors[0] = await cluster.start('mcp');
      proxy.replace(0, urlOf(doors[0]));
      proxy.only = null;
    },
    180_000,
  );

  it.each(eras)(
    'of executor and MCP server, in a call that is parked: it goes on with the answer, and each round is sent once (%s era)',
    async (era) => {
      proxy.only = 0;
      const person = await connected(era, proxy.url);
      const on = `parked-${era}`;
      const { result } = await begun(person, 'take', on);
      // Parked: nothing of it is under way.
      await eventually(kept, ([text]) => text?.includes('"parked"') === true);
      await sleep(1_000);
      await anotherExecutor();
      proxy.only = 1;
      doors[0]?.process.kill('SIGKILL');
      await doors[0]?.ended;
      person.answer('7G');
      expect(await result).toMatchObject({ isError: false, content: [{ type: 'text', text: 'Seat 7G' }] });
      expect([person.shown.length, newer.begun.get(on), newer.done.get(on)]).toEqual([1, 1, 1]);
      await eventually(steps, (all) => all.at(-1)?.outcome === 'ok');
      expect(steps().at(-1)?.questions).toEqual([expect.objectContaining({ outcome: 'answered' })]);
      await eventually(kept, (all) => all.length === 0);
      await person.close();
      doors[0] = await cluster.start('mcp');
      proxy.replace(0, urlOf(doors[0]));
      proxy.only = null;
    },
    180_000,
  );
});

async function connected(era: (typeof eras)[number], url: string): Promise<Person> {
  const shown: string[] = [];
  const seat = Promise.withResolvers<string>();
  const fillIn = async (message: string) => {
    shown.push(message);
    return { action: 'accept' as const, content: { seat: await seat.promise } };
  };
  const capabilities = { elicitation: { form: {} } };
  const given = (tool: string, on: string) => ({
    name: tool === 'take' ? 'newer___book' : `seats___${tool}`,
    arguments: { on },
  });
  const options = { timeout: 170_000 };
  const answer = (text: string): void => seat.resolve(text);
  if (era === 'newer') {
    const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
    const client = new NewClient(clientInfo, { capabilities, ...pinned });
    client.setRequestHandler('elicitation/create', ({ params }) => fillIn(params.message));
    await client.connect(new NewTransport(new URL(url)));
    const call = (tool: string, on: string) => client.callTool(given(tool, on), options);
    return { shown, answer, call, close: () => client.close() };
  }
  const client = new OldClient(clientInfo, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => fillIn(params.message));
  await client.connect(new OldTransport(new URL(url)) as Transport);
  // Progress keeps a stream that can be resumed.
  const call = (tool: string, on: string) =>
    client.callTool(given(tool, on), undefined, { ...options, onprogress: () => undefined });
  return { shown, answer, call, close: () => client.close() };
}

function urlOf(program: Program): string {
  const [, url = ''] = /"url":"(http:[^"]+\/mcp)"/.exec(program.said()) ?? [];
  return url;
}
