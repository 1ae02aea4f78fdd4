import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { startSystem } from './system.js';
import type { Said, TestSystem } from './system.js';

export const ids = {
  research: 'core__research',
  writer: 'core__writer',
  now: 'core__now',
  note: 'core__note',
} as const;

/** A call of the agent `research` with this question. */
export const research = (question: string) => [ids.research, JSON.stringify({ question })] as const;
export const writer = (question: string) => [ids.writer, JSON.stringify({ question })] as const;
export const now = [ids.now, '{}'] as const;

/** Runs that supervise an agent that only reads, and one that changes something. */
export function withSupervisor(
  more: { agent?: string; entry?: string; supervisor?: string; policy?: string; limits?: string; model?: string } = {},
): string {
  const { agent = '{ group: [facts] }', entry = 'timeout_seconds: 60', supervisor = '{}' } = more;
  return `
tool:
  research: { type: agent, group: [helpers], agent: ${agent}, ${entry} }
  writer: { type: agent, group: [helpers], agent: { group: [notes] }, timeout_seconds: 60 }
  now: { type: get_current_time, group: [helpers, facts] }
  note: { type: write_file, group: [notes] }
agents: { default: { strategy: supervisor, strategies: [react], supervisor: ${supervisor} } }
policy:
  allowed_tools: [research, writer, now, note]
  allowed_agents: ['*']
  approval: { none: a test }
  ${more.policy ?? ''}
${more.limits ?? ''}
${more.model ?? ''}
`;
}

type Script = (request: ModelRequest, signal: AbortSignal) => Said | Promise<Said>;

/** A model that follows a script, which may wait for what the runs beside it do. */
export class ScriptedAgents implements Model {
  readonly name = 'scripted';
  readonly asked: ModelRequest[] = [];

  constructor(private readonly script: Script) {}

  async turn(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): Promise<ModelTurn> {
    this.asked.push(request);
    const said = await this.script(request, signal);
    signal.throwIfAborted();
    const usage = { inputTokens: 10, outputTokens: 10 };
    if ('answer' in said) return { thought: '', calls: [], answer: said.answer, ...usage };
    const calls = said.calls.map(([tool, args], index) => {
      return { toolCallId: `call-${request.history.length + index}`, tool, arguments: args };
    });
    return { thought: said.thought ?? '', calls, answer: null, ...usage };
  }
}

/** `Go` calls in its first turn, and answers with what it then knows; `agents` says what else is asked. */
export function supervising(calls: readonly (readonly [string, string])[], agents: Script): ScriptedAgents {
  return new ScriptedAgents((request, signal) => {
    if (request.question !== 'Go') return agents(request, signal);
    if (request.history.length === 0) return { calls };
    return { answer: request.history.map(({ outcome, observation }) => `${outcome}: ${observation}`).join('\n') };
  });
}

/** Resolves only when the signal aborts, and then rejects. */
export function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** Lets its callers go on once so many of them wait. */
export function barrier(size: number): () => Promise<void> {
  let waiting = 0;
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if (++waiting >= size) open();
    return all;
  };
}

export async function startSupervisor(model: ScriptedAgents, ...given: Parameters<typeof withSupervisor>) {
  const opened: TestSystem = await startSystem(withSupervisor(...given), model);
  const end = (changes: Parameters<TestSystem['ask']>[0] = {}): ReturnType<TestSystem['ask']> =>
    opened.ask({ group: ['helpers'], requestId: 'run-1', sessionId: 'session-1', ...changes });
  return { opened, model, end };
}
