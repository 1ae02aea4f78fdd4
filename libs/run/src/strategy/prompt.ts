import { isJsonObject } from '@sluice/core';
import type { ConfiguredTool, Evaluator, JsonObject, ModelRequest, ModelTool } from '@sluice/core';
import type { OfferedTool, StrategyDecision, Toolset } from '@sluice/contracts';
import type { Move } from './move.js';
import { toolsWithinReach } from './walk.js';

type Asked = Pick<ModelRequest, 'instructions' | 'tools' | 'toolChoice' | 'planning' | 'review' | 'again'>;

/** What a model is asked where its turn is for one thing: a plan, the arguments of a step, a review, or the answer. */
export function promptOfMove(
  { tools, choice, decision }: Move & { readonly kind: 'ask' },
  toolset: Toolset,
  evaluator: Evaluator,
  instructions: string,
  modelTool: (offered: OfferedTool) => ModelTool,
): Asked {
  const told = `${instructions}\n\n${wordsFor(decision)}`;
  const shown = toolset.tools.filter(({ id }) => tools.some((tool) => tool.id === id)).map(modelTool);
  const [only] = shown;
  if (only === undefined) return { instructions: told, tools: [], toolChoice: { type: 'auto' } };
  if (tools[0]?.plan === undefined) {
    const again = decision.action === 'retry' || decision.action === 'simplify' ? { again: true } : {};
    return { instructions: told, tools: shown, toolChoice: choice, ...again };
  }
  if (decision.action !== 'plan')
    return {
      instructions: told,
      tools: [
        { ...only, description: reviewDescription, inputSchema: reviewSchema(only.inputSchema, decision.action) },
      ],
      toolChoice: choice,
      review: { kind: decision.action === 'judge' ? 'judge' : 'override', confidence: decision.score?.confidence ?? 0 },
    };
  const { request, run, decidedAt: at } = toolset;
  const within = toolsWithinReach({ request, run, at }, evaluator);
  const description = `${only.description}\n\n${listed(within, toolset.state)}`;
  const inputSchema = planSchema(only.inputSchema, decision.strategy === 'confidence');
  return {
    instructions: told,
    tools: [{ ...only, description, inputSchema }],
    toolChoice: choice,
    planning: within.flatMap(({ id, description: about, spec }) =>
      spec === null ? [] : [{ id, description: about, inputSchema: spec.inputSchema }],
    ),
  };
}

const reviewDescription = 'Takes your review of a step’s result.';

function wordsFor({ action, reason, strategy, step, confidence }: StrategyDecision): string {
  const by = 'You work by a plan.';
  switch (action) {
    case 'plan': {
      const limits =
        strategy === 'confidence'
          ? ' Each result is measured: give a step its own confidence, retries or timeout_seconds only where it needs other ones than usual.'
          : '';
      return `${by} ${reason} Make the plan of all steps that the question needs from here on, in order, and nothing else.${limits}`;
    }
    case 'arguments':
      return `${by} ${reason} Call its tool with arguments for this step, by the results so far.`;
    case 'retry':
      return `${by} ${reason} Call its tool again, with arguments that mend that.`;
    case 'simplify':
      return `${by} ${reason} Make the simplest call that still helps with what step ${step} is for: ask for less, or for one thing alone.`;
    case 'judge':
      return `${by} ${reason} Review the last result: say from 0 to 1 how far it does what step ${step} is for, and why. Judge nothing else.`;
    case 'override':
      return `${by} ${reason} Decide: \`accept\` has the plan go on with this result, \`replan\` has another plan made, \`stop\` ends with a partial answer. Accept only what the rest of the plan can rest on.`;
    case 'partial':
      return `${by} ${reason} Answer what can be answered by the results so far, and say plainly what is missing and how sure the rest is (confidence ${confidence ?? 'unknown'}). Make nothing up.`;
    default:
      return `${by} ${reason} Answer the question by the results so far. Say what could not be found out or done.`;
  }
}

/** The plan’s own part of its tool’s arguments; what measured steps are held to only where results are measured. */
function planSchema(schema: JsonObject, isMeasured: boolean): JsonObject {
  const steps = inside(schema, 'properties', 'steps');
  const items = steps === null ? null : inside(steps, 'items');
  const members = items === null ? null : inside(items, 'properties');
  if (steps === null || items === null || members === null) return schema;
  const kept = isMeasured ? members : without(members, ['confidence', 'retries', 'timeout_seconds']);
  const properties = { steps: { ...steps, items: { ...items, properties: kept } } };
  return { ...schema, properties, required: ['steps'] };
}

/** The review’s part: what is judged, or what is decided. */
function reviewSchema(schema: JsonObject, action: string): JsonObject {
  const review = inside(schema, 'properties', 'review');
  const members = review === null ? null : inside(review, 'properties');
  if (review === null || members === null) return schema;
  const wanted = action === 'judge' ? 'confidence' : 'decision';
  const properties = without(
    members,
    Object.keys(members).filter((name) => name !== wanted && name !== 'why'),
  );
  return {
    ...schema,
    properties: { review: { ...review, properties, required: [wanted, 'why'] } },
    required: ['review'],
  };
}

function inside(schema: JsonObject, ...path: readonly string[]): JsonObject | null {
  let at: JsonObject = schema;
  for (const name of path) {
    const next = at[name];
    if (!isJsonObject(next)) return null;
    at = next;
  }
  return at;
}

function without(members: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
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
