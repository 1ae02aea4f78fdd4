import { ids as workflowIds, workflowConfiguration } from './configurations.js';
import { ScriptedModel, startSystem } from './system.js';
import type { Said, TestSystem } from './system.js';

export const ids = { ...workflowIds, research: 'core__research', nested: 'core__nested' } as const;

/** A call of the agent. */
export const research = [ids.research, '{"question":"Who made it?"}'] as const;

/** The workflow with an agent `research` (YAML of its `agent`), and one that would call it. */
export function withAgents(
  agent = '{ group: [text, agents] }',
  more: { allowed?: string; limits?: string; model?: string; entry?: string; policy?: string } = {},
): string {
  const entries = `
  research: { type: agent, description: Finds things out, group: [agents], agent: ${agent}, ${more.entry ?? 'timeout_seconds: 20'} }
`;
  const { limits = '', model = '', policy = '' } = more;
  return workflowConfiguration({
    allowed: 'text-completion, complex-analysis, reset-workflow, research',
    limits: `${limits}\n${model}`,
  }).replace(/^policy:$/m, `${entries}policy:\n  allowed_agents: ${more.allowed ?? '[research]'}${policy}`);
}

/** What the model says, by question and turn: `Go` is what is asked, `Who made it?` what the agent is asked. */
export type Scripts = Readonly<Record<string, readonly Said[]>>;

export function scripted(scripts: Scripts): ScriptedModel {
  return new ScriptedModel(({ question, history }) => {
    const turn = new Set(history.map((step) => step.iteration)).size;
    return scripts[question]?.[turn] ?? { answer: `That was “${question}”.` };
  });
}

export async function startAgents(scripts: Scripts, ...given: Parameters<typeof withAgents>) {
  const model = scripted(scripts);
  const opened = await startSystem(withAgents(...given), model);
  const end = (): ReturnType<TestSystem['ask']> =>
    opened.ask({ group: ['*'], state: 'analysis', requestId: 'run-1', sessionId: 'session-1' });
  return { opened, model, end };
}
