import type { Model, ModelTurn } from '@sluice/core';
import type { Outgoing } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import { newRequest } from '../../apps/sluice/src/run-request.js';

/** What the runs of a seeded history work under. */
export const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [clocks] }
  list: { type: list_todos, description: Lists the tasks, group: [tasks] }
  add: { type: add_todo, description: Adds a task, group: [tasks] }
policy:
  allowed_tools: [now, list, add]
  approval: { approvers: ['*'] }
limits: { max_iterations: 3, run_seconds: 300 }
`;

interface Kind {
  readonly question: string;
  readonly groups: readonly string[];
  /** A turn each; the model answers when they are made. */
  readonly calls: readonly { readonly tool: string; readonly arguments: string }[];
  /** So many of a hundred runs. */
  readonly share: number;
}

const now = { tool: 'core__now', arguments: '{}' };
const list = { tool: 'core__list', arguments: '{}' };
const add = { tool: 'core__add', arguments: '{"task":"Compare the two offers","priority":"high"}' };

/** Most make one call; some none, two, one that they may not make, too many, or one that a person approves. */
export const kinds: readonly Kind[] = [
  { question: 'What time is it?', groups: ['clocks'], calls: [now], share: 55 },
  { question: 'Which tasks are left?', groups: ['tasks'], calls: [list], share: 20 },
  { question: 'How late is it, and what is left to do?', groups: ['clocks', 'tasks'], calls: [now, list], share: 10 },
  { question: 'What is an offer?', groups: ['clocks'], calls: [], share: 10 },
  { question: 'Which tasks may I not see?', groups: ['clocks'], calls: [list], share: 2 },
  { question: 'What time is it, again and again?', groups: ['clocks'], calls: [now, now, now, now], share: 2 },
  { question: 'Put the offers on my list.', groups: ['tasks'], calls: [add], share: 1 },
];

/** By the number of the run: each hundred has all kinds, in the same shares. */
export function kindOf(n: number): Kind {
  let place = (n * 37) % 100;
  for (const kind of kinds) if ((place -= kind.share) < 0) return kind;
  throw new Error('The shares are not a hundred.');
}

/** A request of the run with this number; a session has about four of them, none close to another. */
export function requestOf(n: number, runs: number): Outgoing {
  const { question, groups } = kindOf(n);
  const ids = { requestId: `seed-${n}`, sessionId: `session-${n % Math.ceil(runs / 4)}` };
  const record = { ...newRequest(question, ids), group: [...groups] };
  return { topic: topics.requests, key: ids.sessionId, record };
}

/** A request whose call is left undecided: its run waits. */
export function waitingRequestOf(n: number): Outgoing {
  const { question, groups } = kinds.find(({ calls }) => calls.includes(add)) as Kind;
  const ids = { requestId: `${waits}${n}`, sessionId: `waiting-${n}` };
  const record = { ...newRequest(question, ids), group: [...groups] };
  return { topic: topics.requests, key: ids.sessionId, record };
}

/** How the ids of requests begin whose calls are left undecided. */
export const waits = 'waits-';

/** Makes the calls of the question, one in each turn, and then answers. */
export const seedModel: Model = {
  name: 'seed',
  turn: ({ question, history }) => {
    const call = kinds.find((kind) => kind.question === question)?.calls[history.length];
    const turn: ModelTurn = {
      thought: call === undefined ? '' : 'I look that up first.',
      calls: call === undefined ? [] : [{ toolCallId: `c-${history.length}`, ...call }],
      answer: call === undefined ? `What I found answers “${question}” as well as I can.` : null,
      inputTokens: 220,
      outputTokens: 24,
    };
    return Promise.resolve(turn);
  },
};
