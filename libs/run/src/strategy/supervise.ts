import type { Evaluator } from '@sluice/core';
import type { StrategyDecision, Toolset } from '@sluice/contracts';

/** The instructions of a supervisor’s model, behind those of the configuration. */
export const supervisorInstructions = [
  'You supervise agents. Split the question into parts that do not need each other’s results, and call an agent for each part in one turn:',
  'agents that are called in one turn work side by side. An agent sees nothing but the question that you give it, so write all that it needs.',
  'Each agent’s answer begins with a summary. Where an agent failed, answer by what the others found, and say what is missing.',
].join(' ');

/** The agents of a turn that work side by side where they are called together, by id. */
export function sideBySideIn({ tools }: Pick<Toolset, 'tools'>, { byId }: Pick<Evaluator, 'byId'>): readonly string[] {
  return tools.flatMap(({ id }) => {
    const tool = byId(id);
    return tool?.agent !== undefined && tool.target === null && tool.spec?.effect === 'read_only' ? [id] : [];
  });
}

/**
 * What a supervisor decides for its turn: its model hands parts of the question to agents, or answers by what they
 * found.
 */
export function supervised({ run, request, tools }: Toolset, { byId }: Pick<Evaluator, 'byId'>): StrategyDecision {
  const agents = tools.filter(({ id }) => byId(id)?.agent !== undefined).length;
  const steps = request.history.slice(run.strategy?.brought ?? 0);
  const last = steps.at(-1)?.iteration;
  const ended = steps.filter(({ iteration, agentRun }) => iteration === last && agentRun !== null);
  const answered = ended.filter(({ outcome }) => outcome === 'ok').length;
  const reason =
    ended.length === 0
      ? `${agents} ${agents === 1 ? 'agent is' : 'agents are'} offered.`
      : `${answered} of ${ended.length} agents of the turn before answered.`;
  const unmeasured = { attempt: 0, score: null, confidence: null, partial: false };
  return { ...unmeasured, strategy: 'supervisor', action: 'supervise', reason, plan: 0, step: 0 };
}
