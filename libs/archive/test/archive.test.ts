import { randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive, selectRecords, streamArchive, writeArchive } from '@sluice/archive';
import type { Archive, Selection } from '@sluice/archive';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { make } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { trailerFrame } from '../src/format.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const everything: Selection = { from: null, to: null, session: null, tenant: null, topics: null };
const principal = (tenantId: string) => ({
  actorId: 'user:a',
  tenantId,
  subjectId: null,
  groups: ['*'],
  connections: [],
});
const ids = (n: number) => ({ requestId: `r-${n}`, sessionId: `s-${n}` });
const asked = (n: number) => ({
  ...make.agentRequest({ question: `What is ${n}? ${'x'.repeat(500)}`, group: ['a', 'b'] }),
  ...ids(n),
});

/** Two records a run, of two tenants in turn, and a dead letter of the first run. */
function log(count: number): Incoming[] {
  const messages: Incoming[] = [];
  const place = (topic: Topic, n: number) => ({
    topic,
    partition: n % 3,
    offset: Math.floor(n / 3),
    key: `s-${n}`,
    timestamp: 1_000 + n,
    headers: { authorization: 'Bearer of-a-secret', traceparent: `00-${n}` },
  });
  messages.push({
    ...place('agent.config', 0),
    record: {
      version: 'c-1',
      configuration: '{}',
      source: 'sluice.yaml',
      compiledAt: 1,
      recordSignature: null,
      parts: [],
    },
  } as Incoming);
  for (let n = 0; n < count; n++) {
    messages.push({ ...place('agent.requests', n), record: asked(n) } as Incoming);
    const run = {
      ...{ iteration: 1, maxIterations: 3, startedAt: n, deadline: n, initialState: 'undefined', stateEnteredAt: n },
      ...{ stateTransitions: [], requestedGroups: [], availableTools: [], filteredByGroup: [], filteredByState: [] },
      ...{
        inputTokens: 0,
        outputTokens: 0,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        definitionTokens: null,
        otherModels: null,
        resultTokens: null,
        otherTokens: null,
        parkedMs: null,
        toolCalls: { a: n },
        principal: principal(n % 2 === 0 ? 'even' : 'odd'),
      },
      firstTools: null,
      redrive: null,
      answer: null,
      parent: null,
      conditions: null,
      strategy: null,
      memory: null,
    };
    const ended = { kind: 'answer', answer: 'Yes', error: null, question: 'q', state: 'undefined', history: [] };
    const record = {
      ...ids(n),
      ...ended,
      run,
      iterations: 1,
      configVersion: 'c-1',
      endedAt: n,
      tenantId: null,
      model: null,
      decision: null,
      incomplete: null,
      structured: null,
      agent: null,
      budgets: [],
      recordSignature: null,
    };
    messages.push({ ...place('agent.responses', n), record } as Incoming);
  }
  const dead = { topic: 'agent.requests', partition: 0, offset: 0, group: 'filter', key: 's-0' };
  const why = {
    headers: {},
    timestamp: 5,
    code: 'unexpected',
    reason: 'So',
    attempts: 1,
    failedAt: 6,
    lastFault: null,
  };
  const record = { ...dead, value: Buffer.from([0, 1, 2]), ...why };
  messages.push({ ...place('agent.dead-letters', 0), record } as Incoming);
  return messages;
}

function readerOf(messages: readonly Incoming[]): LogReader {
  return {
    read: <T extends Topic>(topics: readonly T[], { from }: ReadOptions) =>
      (async function* () {
        const since = typeof from === 'object' && 'time' in from ? from.time : 0;
        for (const message of messages)
          if (topics.includes(message.topic as T) && message.timestamp >= since) yield message as Incoming<T>;
      })(),
  };
}

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of records) found.push(one);
  return found;
}

const signal = new AbortController().signal;
const none = () => undefined;

async function exported(name: string, messages: readonly Incoming[], selection: Selection = everything) {
  const file = join(folder, name);
  const records = selectRecords(readerOf(messages), selection, none, signal);
  const trailer = await writeArchive(file, { selection, createdAt: 7, records, undecodable: () => 2 });
  return { file, trailer };
}

const all = ['agent.config', 'agent.requests', 'agent.responses', 'agent.dead-letters'] as const;

describe('an export', () => {
  const messages = log(2_000);
  let file: string;
  let archive: Archive;
  beforeAll(async () => {
    ({ file } = await exported('whole.sluice', messages));
    archive = await openArchive(file);
  });

  it('gives the records back as they were, but for credentials', async () => {
    const back = await collect(archive.read(all, { from: 'start' }));
    const bare = messages.map(({ headers: { authorization: _, ...headers }, ...message }) => ({ ...message, headers }));
    // Fields that schemas got since are there with their defaults.
    expect(JSON.parse(JSON.stringify(back))).toMatchObject(JSON.parse(JSON.stringify(bare)) as object[]);
    expect(JSON.stringify(back)).not.toContain('of-a-secret');
    expect(archive.trailer).toMatchObject({ records: { 'agent.requests': 2_000 }, undecodable: 2 });
    expect(readFileSync(file).length).toBeLessThan(200_000);
  });

  it('is read from a time, an offset or its end on, and until it is stopped', async () => {
    const count = async (options: ReadOptions) => (await collect(archive.read(['agent.requests'], options))).length;
    expect(await count({ from: { time: 2_990 } })).toBe(10);
    expect(await count({ from: { offset: 660 } })).toBe(2_000 - 3 * 660);
    expect(await count({ from: { offset: 660, partition: 1 } })).toBe(7);
    expect(await count({ from: 'end' })).toBe(0);
    expect(await count({ from: 'start', follow: true, signal: AbortSignal.abort() })).toBe(0);
  });

  it('holds what was selected: a session, a time, topics; configurations always', async () => {
    const topicsOf = async (selection: Partial<Selection>) => {
      const { file: part } = await exported('part.sluice', messages, { ...everything, ...selection });
      const found = await collect((await openArchive(part)).read(all, { from: 'start' }));
      return found.map(({ topic, key }) => `${topic} ${key}`);
    };
    const config = 'agent.config s-0';
    expect(await topicsOf({ session: 's-7' })).toEqual([config, 'agent.requests s-7', 'agent.responses s-7']);
    expect(await topicsOf({ from: 1_003, to: 1_004 })).toEqual([config, 'agent.requests s-3', 'agent.responses s-3']);
    expect(await topicsOf({ topics: ['agent.dead-letters'] })).toEqual([config, 'agent.dead-letters s-0']);
    const even = await topicsOf({ tenant: 'even' });
    expect(even).toHaveLength(1 + 2_000 + 1);
    expect(even).toContain('agent.requests s-2');
    expect(await topicsOf({ tenant: 'odd' })).toHaveLength(1 + 2_000);
  });

  const bytes = () => readFileSync(file);
  it.each([
    ['cut short in its middle', () => bytes().subarray(0, 9_000), /is cut short, or is none/],
    ['cut short by a byte', () => bytes().subarray(0, -1), /is cut short, or is none/],
    ['empty', () => Buffer.alloc(0), /is cut short, or is none/],
    ['something else', () => Buffer.from('a text that is no export at all'), /is cut short, or is none/],
    ['longer than it was', () => Buffer.concat([Buffer.from('x'), bytes()]), /is cut short, or is none/],
    [
      'changed in one bit',
      () => {
        const changed = bytes();
        changed[5_000] = (changed[5_000] ?? 0) ^ 1;
        return changed;
      },
      /was changed: its bytes give the SHA-256/,
    ],
    [
      'without records before its trailer',
      () => trailerFrame({ records: {}, undecodable: 0, bytes: 0, sha256: 'e3b0' }),
      /was changed/,
    ],
  ])('is refused where it is %s', async (_, damaged, said) => {
    const path = join(folder, 'damaged.sluice');
    writeFileSync(path, damaged());
    await expect(openArchive(path)).rejects.toThrow(said);
  });

  it('is refused where it is not there', async () => {
    await expect(openArchive(join(folder, 'nowhere'))).rejects.toThrow(/cannot be read: .*no such file/);
  });

  it('leaves nothing behind where it was not finished, and the former file as it was', async () => {
    const before = bytes();
    const broken = (async function* () {
      yield* messages.slice(0, 100);
      throw new Error('The log went away.');
    })();
    const writing = writeArchive(file, { selection: everything, createdAt: 7, records: broken, undecodable: () => 0 });
    await expect(writing).rejects.toThrow('The log went away.');
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    await expect(exported('no/such/folder', messages)).rejects.toThrow(/cannot be written: /);
  });
});

describe('an export to a stream', () => {
  const messages = log(2_000);

  it('has the same bytes as a file, and reads no further ahead than the stream takes', async () => {
    const pieces: Uint8Array[] = [];
    let read = 0;
    const records = (async function* () {
      for (const message of messages) {
        read++;
        // What does not compress, so that much has to be taken.
        const question = randomBytes(3_000).toString('base64');
        yield message.topic === 'agent.requests' ? { ...message, record: { ...message.record, question } } : message;
        await setImmediate();
      }
    })();
    const stream = Promise.withResolvers<undefined>();
    const appendFile = async (piece: Uint8Array): Promise<void> => {
      await stream.promise;
      pieces.push(piece);
    };
    const written = streamArchive(
      { appendFile },
      { selection: everything, createdAt: 7, records, undecodable: () => 0 },
    );
    let before = -1;
    while (before !== read) {
      before = read;
      await setTimeout(200);
    }
    expect(read).toBeLessThan(messages.length / 2);
    stream.resolve(undefined);
    const trailer = await written;
    const file = join(folder, 'streamed.sluice');
    writeFileSync(file, Buffer.concat(pieces));
    expect((await openArchive(file)).trailer).toEqual(trailer);
    expect(read).toBe(messages.length);
  });

  it('has no trailer, and so is refused, where it was not finished', async () => {
    const pieces: Uint8Array[] = [];
    const appendFile = (piece: Uint8Array) => Promise.resolve(void pieces.push(piece));
    const broken = (async function* () {
      yield* messages.slice(0, 100);
      throw new Error('The log went away.');
    })();
    const given = { selection: everything, createdAt: 7, records: broken, undecodable: () => 0 };
    await expect(streamArchive({ appendFile }, given)).rejects.toThrow('The log went away.');
    const file = join(folder, 'half.sluice');
    writeFileSync(file, Buffer.concat(pieces));
    await expect(openArchive(file)).rejects.toThrow(/is cut short, or is none/);
  });
});

describe('where an export goes', () => {
  const none = (async function* (): AsyncGenerator<Incoming, void, undefined> {})();
  const write = (file: string) =>
    writeArchive(file, { selection: everything, createdAt: 7, records: none, undecodable: () => 0 });
  const place = mkdtempSync(join(folder, 'where-'));

  it.each([
    ['a file', 'there', true],
    ['nothing yet', 'to-be', false],
  ])('a link to %s stays one, and what it points to is written', async (_, name, there) => {
    const link = join(place, `link-to-${name}`);
    if (there) writeFileSync(join(place, name), 'old');
    symlinkSync(name, link);
    await write(link);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(place, name)).isFile()).toBe(true);
    expect(readFileSync(join(place, name), 'utf8')).not.toBe('old');
    await openArchive(link);
  });

  it('is not in the way of what another process of the same number writes there, or was writing when it was killed', async () => {
    const file = join(place, 'crowded');
    const part = `${file}.${process.pid}.part`;
    writeFileSync(part, 'of a process in another container');
    await write(file);
    await openArchive(file);
    expect(readFileSync(part, 'utf8')).toBe('of a process in another container');
  });

  it('what is no regular file is refused and stays, also behind a link', async () => {
    const socket = join(place, 'socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    try {
      symlinkSync(socket, join(place, 'link-to-socket'));
      mkdirSync(join(place, 'folder'));
      for (const name of ['socket', 'link-to-socket', 'folder'])
        await expect(write(join(place, name))).rejects.toThrow('what has this name is no regular file. Name another.');
      expect(lstatSync(socket).isSocket()).toBe(true);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('a link that leads nowhere but to itself is refused with a sentence', async () => {
    const round = join(place, 'round');
    symlinkSync(round, round);
    await expect(write(round)).rejects.toThrow(`The export ${round} cannot be written: ELOOP`);
  });
});
