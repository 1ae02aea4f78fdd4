import { readFile, writeFile } from 'node:fs/promises';
import { topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { asked, configured, decide } from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';

const configuration = configured("{ approvers: ['user:ann', 'user:bob'], effects: [state_change] }", {
  allowed: 'knowledge-query, text-completion, complex-analysis, reset-workflow',
  limits: 'limits: { history_bytes: 20000 }',
  // From the project’s root, where tests run: what is recorded names no place of one machine.
  server: 'examples/analysis-server/server.mjs',
}).replace(/^policy:$/m, 'policy:\n  budgets: { tools: { text-completion: { calls_per_run: 1 } } }');

type Scripted = Partial<AgentRequest> & { readonly turns: readonly Said[] };

const text = [ids.text, '{"prompt":"Say so"}'] as const;

/**
 * Runs by their ids, with what the model says in each: every way that a call, a turn and a run can end without
 * waiting for time.
 */
const scripts: Readonly<Record<string, Scripted>> = {
  workflow: { group: ['*'], turns: [{ calls: [calls.query], thought: 'Look' }, { calls: [calls.analysis] }] },
  refused: {
    group: ['read-only', 'nobody-has-this'],
    turns: [
      {
        calls: [
          [ids.query, 'no json'],
          ['no-such-tool', '{}'],
          [ids.update, '{}'],
          [ids.query, `{"sparql":"${'x'.repeat(9_000)}"}`],
          [ids.query, '{"sparql":7}'],
          [ids.analysis, '{}'],
        ],
      },
    ],
  },
  budget: { group: ['text'], turns: [{ calls: [text, text] }, { calls: [text] }] },
  'wrong-state': { group: ['*'], state: 'results', turns: [{ calls: [calls.query, calls.analysis] }] },
  'no-tools': { group: [], turns: [] },
  endless: { group: ['*'], maxIterations: 2, turns: [{ calls: [calls.query] }, { calls: [text] }, { calls: [text] }] },
  late: { group: ['*'], deadline: 1, turns: [] },
  full: {
    group: ['*'],
    turns: [{ calls: Array.from({ length: 4 }, () => [ids.query, `{"sparql":"${'y'.repeat(7_000)}"}`] as const) }],
  },
};

const waiting: Said = { thought: 'Begin anew', calls: [calls.analysis, calls.reset, text] };

/** All services in this process with a log of many kinds of decisions, two configurations and three approvals on it. */
export async function recordRuns(): Promise<TestSystem> {
  const model = new ScriptedModel(({ question, history }) => {
    const turn = new Set(history.map((step) => step.iteration)).size;
    const turns = scripts[question]?.turns ?? (question === 'approval' ? [waiting] : []);
    return turns[turn] ?? { answer: `That was ${question}.` };
  });
  const system = await startSystem(configuration, model);
  for (const [question, { group = null, state = null, maxIterations = null, deadline = null }] of Object.entries(
    scripts,
  )) {
    const asked = { group, state, maxIterations, deadline };
    await system.ask({ ...asked, question, requestId: question, sessionId: `session-${question}` });
  }
  await system.ask({ question: ' ', requestId: 'empty', sessionId: 'session-empty' });
  await publish(system, { ...newRequest('workflow', { requestId: 'workflow', sessionId: 'session-workflow' }) });
  await approvals(system);
  await changeConfiguration(system);
  for (const question of ['workflow', 'refused'])
    await system.ask({ group: ['*'], question, requestId: `${question}-2`, sessionId: `session-${question}` });
  return system;
}

async function approvals(system: TestSystem): Promise<void> {
  for (const [n, decision] of ['approve', 'refuse', 'approve'].entries()) {
    const requestId = `approval-${n + 1}`;
    const end = system.ask({ group: ['*'], state: 'analysis', question: 'approval', requestId, sessionId: requestId });
    const waits = await asked(system, n + 1);
    await decide(system, waits, decision, { decidedBy: 'user:eve' });
    await decide(system, waits, decision, { reason: 'So it is.' });
    await decide(system, waits, 'refuse', { decidedBy: 'user:bob' });
    await end;
  }
}

/** From now on nobody may call the text completion, and the analysis leads elsewhere. */
async function changeConfiguration({ configFile, bus }: TestSystem): Promise<void> {
  const before = await readFile(configFile, 'utf8');
  const changed = before
    .replace(', text-completion, complex', ', complex')
    .replace('state: "results"', 'state: "done"');
  const signal = AbortSignal.timeout(120_000);
  const configurations = bus.read([topics.config], { from: 'end', follow: true, signal })[Symbol.asyncIterator]();
  const next = configurations.next();
  await writeFile(configFile, changed);
  await next;
  await configurations.return?.(undefined);
}

function publish({ bus }: TestSystem, record: AgentRequest): Promise<void> {
  return bus.publish([{ topic: topics.requests, key: record.sessionId ?? '', record }]);
}
