import type { ConfiguredTool, Evaluator, ModelRequest, ModelTool } from '@sluice/core';
import type { OfferedTool, Toolset } from '@sluice/contracts';
import type { Move } from './next-move.js';
import { toolsWithinReach } from './walk.js';

type Asked = Pick<ModelRequest, 'instructions' | 'tools' | 'toolChoice' | 'planning'>;

/** What a model is asked where its turn is for one thing: a plan, the arguments of a step, or the answer. */
export function askedFor(
  { tool, choice, decision }: Move & { readonly kind: 'ask' },
  toolset: Toolset,
  evaluator: Evaluator,
  instructions: string,
  modelTool: (offered: OfferedTool) => ModelTool,
): Asked {
  const told = `${instructions}\n\n${wordsFor(decision.action, decision.reason)}`;
  const offered = toolset.tools.find(({ id }) => id === tool?.id);
  if (tool === null || offered === undefined) return { instructions: told, tools: [], toolChoice: { type: 'auto' } };
  const shown = modelTool(offered);
  if (tool.plan === undefined) return { instructions: told, tools: [shown], toolChoice: choice };
  const { request, run, decidedAt: at } = toolset;
  const within = toolsWithinReach({ request, run, at }, evaluator);
  const description = `${shown.description}\n\n${listed(within, toolset.state)}`;
  return {
    instructions: told,
    tools: [{ ...shown, description }],
    toolChoice: choice,
    planning: within.flatMap(({ id, description: about, spec }) =>
      spec === null ? [] : [{ id, description: about, inputSchema: spec.inputSchema }],
    ),
  };
}

function wordsFor(action: string, reason: string): string {
  switch (action) {
    case 'plan':
      return `You work by a plan. ${reason} Make the plan of all steps that the question needs from here on, in order, and nothing else.`;
    case 'arguments':
      return `You work by a plan. ${reason} Call its tool with arguments for this step, by the results so far.`;
    default:
      return `You work by a plan. ${reason} Answer the question by the results so far. Say what could not be found out or done.`;
  }
}

/** The tools that a step may use, with the states that they need and lead to. */
function listed(tools: readonly ConfiguredTool[], state: string): string {
  if (tools.length === 0) return 'No step can use a tool now: make a plan without steps.';
  const lines = tools.map((tool) => {
    const needs = tool.states.includes('*') ? 'in every state' : `in the states ${tool.states.join(', ')}`;
    const leads = tool.target === null ? '' : `; leads to the state ${tool.target}`;
    const takes = JSON.stringify(tool.spec?.inputSchema ?? {});
    return `- ${tool.id} (${needs}${leads}): ${tool.description}\n  arguments: ${takes}`;
  });
  return `The plan begins in the state ${state}. Its steps may use these tools:\n${lines.join('\n')}`;
}
