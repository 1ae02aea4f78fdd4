import { isRequest, topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { newRequest } from './run-request.js';

const prefix = 'sample-';

/** The sample workflow: undefined → analysis → results → undefined, on real countries. */
export const sampleQuestion = 'Which countries border Switzerland, and how do they compare? Then reset the workflow.';
const sampleGroups = ['read-only', 'knowledge', 'compute', 'admin'];
const neighbours = ['Austria', 'France', 'Germany', 'Italy', 'Liechtenstein'];
const path = ['analysis', 'results', 'undefined'];

/** The sample run that was cut off before its end, or a new one. */
export async function sampleRequest(
  bus: Bus,
  now: number,
): Promise<{ request: AgentRequest & { requestId: string; sessionId: string }; since: number; isNew: boolean }> {
  const open = new Map<string, number>();
  for await (const message of bus.read([topics.requests, topics.calls, topics.responses], {
    from: 'start',
    onUndecodable: () => undefined,
  })) {
    const id = message.record.requestId;
    if (id === null || !id.startsWith(prefix)) continue;
    if (isRequest(message)) open.set(id, message.timestamp);
    else open.delete(id);
  }
  const [cutOff] = [...open].slice(-1);
  const id = cutOff?.[0] ?? `${prefix}${now}`;
  const request = { ...newRequest(sampleQuestion, { requestId: id, sessionId: id }), group: sampleGroups };
  return { request, since: cutOff?.[1] ?? now, isNew: cutOff === undefined };
}

/** What is wrong with the sample's end, as sentences; none if it is right. */
export function sampleMistakes(response: AgentResponse): readonly string[] {
  if (response.error !== null) return [response.error.message];
  const mistakes: string[] = [];
  const answer = response.answer ?? '';
  for (const country of neighbours)
    if (!answer.includes(country)) mistakes.push(`The answer does not name ${country}.`);
  const taken = response.run?.stateTransitions.map((transition) => transition.to) ?? [];
  if (taken.join() !== path.join())
    mistakes.push(`The states went ${taken.join(', ') || 'nowhere'}, not ${path.join(', ')}.`);
  return mistakes;
}
