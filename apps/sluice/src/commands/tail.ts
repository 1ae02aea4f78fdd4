import { parseArgs } from 'node:util';
import { agentBegunBy, printable, printableIn } from '@sluice/core';
import { allTopics, recordNames, recordToJson } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import type { AccessDenial, AgentStepResult, Approval, Cancellation, DiscoveryRecord } from '@sluice/contracts';
import type { Incoming, ReadOptions } from '@sluice/bus';
import { tenantOf } from '@sluice/run';
import { openBus, requireLog } from '@sluice/host';
import { readTopics } from '../read-words.js';
import { sessionNamed } from '../session-named.js';
import { howToDecide, shorten } from '../show/story.js';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice tail [--topic agent.steps,agent.responses] [--session id] [--tenant name] [--from start|end] [--json] [--once]
  Watches the log; --from start begins with what is there, --once ends there. --json prints each record whole, a line each, and
  {"undecodable":…} with its place for one that cannot be read. A unique beginning of a session’s id is enough. --tenant shows the records
  that say that they are the tenant’s: requests, decisions on approvals and their outcomes do not.`;

export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
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

function asLine(message: Incoming, { paint }: Surroundings): string {
  const time = new Date(message.timestamp).toISOString().slice(11, 23);
  return `${paint.dim(time)} ${message.topic.slice('agent.'.length).padEnd(12)} ${paint.dim(shorten(message.key, 24).padEnd(24))} ${shorten(gist(message), 120)}`;
}

/** What a record says in a few words. */
function gist(message: Incoming): string {
  switch (message.topic) {
    case 'agent.requests':
      return `"${message.record.question}" groups ${message.record.group?.join(', ') ?? '(default)'} state ${message.record.state ?? '(undefined)'}`;
    case 'agent.toolsets':
      return `#${message.record.iteration} ${message.record.state}: ${message.record.tools.map((tool) => tool.key).join(', ') || 'no tools'}`;
    case 'agent.tool-calls':
      return `#${message.record.iteration} ${message.record.calls.map((call) => `${call.tool} ${call.arguments}`).join('; ')}`;
    case 'agent.steps':
      return whatTheTurnDid(message.record);
    case 'agent.responses':
      return message.record.error === null
        ? `${message.record.incomplete === null ? 'answer' : `incomplete answer (${message.record.incomplete.reason})`}: ${message.record.answer ?? ''}`
        : `error ${message.record.error.code}: ${message.record.error.message}`;
    case 'agent.progress':
      return `${message.record.kind} ${message.record.tool ?? ''} ${message.record.text}`;
    case 'agent.approvals':
      return aboutApproval(message.record);
    case 'agent.audit':
      return `${message.record.kind} ${message.record.sourceTopic}`;
    case 'agent.dead-letters':
      return `from ${message.record.topic} ${message.record.offset}: ${message.record.code}, ${message.record.reason}`;
    case 'agent.discovery':
      return aboutDiscovery(message.record);
    case 'agent.denials':
      return aboutDenial(message.record);
    case 'agent.cancellations':
      return aboutCancellation(message.record);
    case 'agent.config':
      return `version ${message.record.version} from ${message.record.source}`;
  }
}

function whatTheTurnDid(result: AgentStepResult): string {
  const begunBy = agentBegunBy(result);
  if (begunBy !== null)
    return `${begunBy.tool} of ${begunBy.requestId} runs as an agent of its own: ${result.requestId}`;
  return result.steps.map((step) => `${step.action} ${step.outcome}: ${step.stateBefore} → ${step.state}`).join('; ');
}

function aboutDiscovery({ strategy, bypass, keptTools, totalTools, called, rounds }: DiscoveryRecord): string {
  const done = bypass === null ? `${rounds} rounds of searches` : `unchanged, ${bypass}`;
  return `${strategy}: ${keptTools} of ${totalTools} tools, ${done}; called ${called.join(', ') || 'none'}`;
}

function aboutDenial({ actorId, tenantId, route, refusedGroups, code }: AccessDenial): string {
  return `${actorId} of ${tenantId} was refused ${route}: ${code}${refusedGroups.length === 0 ? '' : `, groups ${refusedGroups.join(', ')}`}`;
}

function aboutCancellation({ requestId, reason, outcome }: Cancellation): string {
  if (outcome === null) return `${requestId} is to be cancelled${reason === '' ? '' : `: ${reason}`}`;
  const { actorId, notTaken } = outcome;
  return notTaken === null ? `${requestId} is cancelled by ${actorId}` : `${requestId} is not cancelled: ${notTaken}`;
}

function aboutApproval({ requested, decided, outcome }: Approval): string {
  if (requested !== null) return `${requested.tool} waits: ${howToDecide(requested.approvalId)}`;
  if (decided !== null) return `${decided.approvalId}: ${decided.decidedBy} says ${decided.decision}`;
  if (outcome === null) return '';
  const { approvalId, decision, decidedBy, notTaken } = outcome;
  return `${approvalId}: ${decision} by ${decidedBy} ${notTaken === null ? 'was taken' : `does not count: ${notTaken}`}`;
}
