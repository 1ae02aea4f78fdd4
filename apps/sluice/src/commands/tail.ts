import { parseArgs } from 'node:util';
import { printable, printableIn } from '@sluice/core';
import { allTopics, gistOf, recordNames, recordToJson } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import type { Incoming, ReadOptions } from '@sluice/bus';
import { tenantOf } from '@sluice/run';
import { openBus, requireLog } from '@sluice/host';
import { readTopics } from '../read-words.js';
import { sessionNamed } from '../session-named.js';
import { shorten } from '../show/story.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice tail [--topic agent.steps,agent.responses] [--session id] [--tenant name] [--from start|end] [--json] [--once]
  Watches the log; --from start begins with what is there, --once ends there. --json prints each record whole, a line each, and
  {"undecodable":…} with its place for one that cannot be read. A unique beginning of a session’s id is enough. --tenant shows the records
  that say that they are the tenant’s: requests, decisions on approvals and their outcomes do not.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      topic: { type: 'string' },
      session: { type: 'string' },
      tenant: { type: 'string' },
      from: { type: 'string', default: 'end' },
      json: { type: 'boolean', default: false },
      once: { type: 'boolean', default: false },
    },
  });
  if (values.from !== 'start' && values.from !== 'end')
    throw new Error(`--from is "${values.from}"; it must be start or end.`);
  const topics = values.topic === undefined ? allTopics : readTopics(values.topic);
  const { environment, log, write, print, taken, paint, stopped } = surroundings;
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  try {
    const onUndecodable: ReadOptions['onUndecodable'] = ({ topic, partition, offset }, reason) => {
      const undecodable = { topic, partition, offset, reason };
      if (values.json) print(`${JSON.stringify({ undecodable })}\n`);
      else write(`${paint.bad('undecodable')} ${topic}/${partition}/${offset} ${printable(reason)}\n`);
    };
    const options = { from: values.from, follow: !values.once, signal: stop.signal, onUndecodable } as const;
    const { signal } = stop;
    const session = values.session === undefined ? null : await sessionNamed(bus, values.session, { signal });
    for await (const message of bus.read(topics, options)) {
      if (session !== null && message.key !== session) continue;
      if (values.tenant !== undefined && tenantOf(message) !== values.tenant) continue;
      if (values.json) print(`${asJson(message)}\n`);
      else write(`${asLine(printableIn(message), surroundings)}\n`);
      await taken();
    }
    return 0;
  } finally {
    await bus.close();
  }
}

function asJson({ topic, partition, offset, key, timestamp, headers, record }: Incoming): string {
  return JSON.stringify({
    topic,
    partition,
    offset,
    key,
    timestamp,
    headers: withoutCredentials(headers),
    record: recordToJson(recordNames[topic], record),
  });
}

function asLine(message: Incoming, { paint }: CommandContext): string {
  const time = new Date(message.timestamp).toISOString().slice(11, 23);
  return `${paint.dim(time)} ${message.topic.slice('agent.'.length).padEnd(12)} ${paint.dim(shorten(message.key, 24).padEnd(24))} ${shorten(gistOf(message), 120)}`;
}
