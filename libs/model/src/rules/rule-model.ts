import { Fault, isJsonObject } from '@sluice/core';
import type { JsonValue, Model, ModelOptions, ModelRequest, ModelTool, ModelTurn, ToolChoice } from '@sluice/core';
import { derivedCallId } from '../call-ids.js';
import { answerOf } from './answer.js';
import { clausesOf, type Clause } from './clauses.js';
import { extractOf } from './extract.js';
import { forcedPlan, foundIn, planFor, type Plan } from './plan.js';
import { jsonOf } from './observations.js';
import { firstOpen, progressOf, type ClauseProgress } from './progress.js';

/**
 * The built-in model: rules about words instead of a language model, so that Sluice runs, and is tested, without any
 * key. Equal requests give equal turns. It splits the question into clauses, does the first open one with the offered
 * tool that fits it best, at most one call a turn but for tools whose calls run side by side, and answers from the
 * observations when nothing is left to do. Where it must call a tool and none fits, it calls the one that fits best
 * all the same, with what the question gives for its arguments; but never one that changes something unless the
 * question orders that.
 */
export function createRuleModel(): Model {
  return {
    name: 'rules/built-in',
    async turn(request: ModelRequest, options: ModelOptions): Promise<ModelTurn> {
      options.signal.throwIfAborted();
      if (request.answerSchema !== undefined) throw new Fault('model_refused', noForm, false);
      const turn = decide(request);
      options.onText?.(turn.answer ?? turn.thought);
      return turn;
    },
  };
}

const noForm =
  'The built-in model rules/built-in gives no answers by a schema: leave the answer schema out, or configure another model.';

function decide(request: ModelRequest): ModelTurn {
  const { question, history, tools: offered, toolChoice, planning, review, again = false } = request;
  const [planner] = offered;
  if (review !== undefined && planner !== undefined) return reviewedBy(request, planner, review);
  if (planning !== undefined && planner !== undefined) return plannedBy(request, planner, planning);
  const last = history.at(-1);
  if (again && last !== undefined && planner !== undefined) return madeAgain(request, last);
  const tools = offered.filter(({ id }) => mayCall(toolChoice, id));
  if (tools.length === 0 && history.length === 0) {
    return answered(
      'No tool is there to call, so the prompt itself is all there is to answer from.',
      extractOf(question),
    );
  }
  const progress = progressOf(clausesOf(question), history);
  const found = foundIn(history);
  const plans = new Map<number, Plan>();
  const beside = new Set(request.sideBySide);
  const together: Call[] = [];
  for (let index = firstOpen(progress); index < progress.length; index += 1) {
    const current = progress[index];
    if (current === undefined) break;
    const plan = planFor(current, tools, history, found);
    if (plan.kind === 'call' && !beside.has(plan.tool.id)) {
      if (together.length > 0) break;
      return called([{ clause: current.clause, plan }], history);
    }
    if (plan.kind === 'call') together.push({ clause: current.clause, plan });
    else plans.set(index, plan);
  }
  if (together.length > 0) return called(together, history);
  const forced = mustCall(toolChoice) ? forcedPlan(progress, tools, found, toolChoice.type === 'tool') : null;
  if (forced !== null) return called([forced], history);
  return answered(whyStopped(progress), answerOf(progress, plans, tools));
}

/** A plan of one step for each open clause that a tool fits; its words are those of the call that it becomes. */
function plannedBy({ question, history }: ModelRequest, planner: ModelTool, tools: readonly ModelTool[]): ModelTurn {
  const progress = progressOf(clausesOf(question), history);
  const found = foundIn(history);
  const steps = progress.slice(firstOpen(progress)).flatMap((current) => {
    const plan = planFor(current, tools, history, found);
    if (plan.kind !== 'call') return [];
    return [{ tool: plan.tool.id, arguments: JSON.stringify(plan.arguments), why: wordsOf(current.clause, plan) }];
  });
  const toolCallId = derivedCallId(history.length, 0, new Set(history.map((step) => step.toolCallId)));
  return {
    thought: `I plan ${steps.length} step${steps.length === 1 ? '' : 's'}.`,
    calls: [{ toolCallId, tool: planner.id, arguments: JSON.stringify({ steps }) }],
    answer: null,
    inputTokens: 0,
    outputTokens: 0,
  };
}

/**
 * The last call, asking for less: without the last of its arguments that need not be there. Its words stay, so that
 * it is still for the same clause.
 */
function madeAgain({ history, tools }: ModelRequest, last: ModelRequest['history'][number]): ModelTurn {
  const tool = tools.find(({ id }) => id === last.toolId) ?? tools[0];
  const required: JsonValue = tool?.inputSchema['required'] ?? [];
  const given = jsonOf(last.arguments);
  const members = isJsonObject(given) ? Object.entries(given) : [];
  const dropped = members.findLast(([name]) => !(Array.isArray(required) && required.includes(name)));
  const kept = members.length > 1 ? members.filter((member) => member !== dropped) : members;
  const toolCallId = derivedCallId(history.length, 0, new Set(history.map((step) => step.toolCallId)));
  return {
    thought: last.thought,
    calls: [{ toolCallId, tool: tool?.id ?? last.toolId, arguments: JSON.stringify(Object.fromEntries(kept)) }],
    answer: null,
    inputTokens: 0,
    outputTokens: 0,
  };
}

/**
 * Rules see no more in a result than its formula does: nothing at all is no ground to go on by, and anything else is.
 */
function reviewedBy(
  { history }: ModelRequest,
  reviewer: ModelTool,
  { kind, confidence }: NonNullable<ModelRequest['review']>,
): ModelTurn {
  const decision = confidence >= leastConfidence ? 'accept' : 'stop';
  const why = `Its formula gives ${confidence}.`;
  const review = kind === 'judge' ? { confidence, why } : { decision, why };
  const toolCallId = derivedCallId(history.length, 0, new Set(history.map((step) => step.toolCallId)));
  return {
    thought: kind === 'judge' ? 'I judge the result by its formula.' : `I decide to ${decision}.`,
    calls: [{ toolCallId, tool: reviewer.id, arguments: JSON.stringify({ review }) }],
    answer: null,
    inputTokens: 0,
    outputTokens: 0,
  };
}

/** Below it a result is about as good as none. */
const leastConfidence = 0.3;

function mayCall(choice: ToolChoice, id: string): boolean {
  return choice.type !== 'none' && (choice.type !== 'tool' || choice.id === id);
}

function mustCall({ type }: ToolChoice): boolean {
  return type === 'required' || type === 'tool';
}

function whyStopped(progress: readonly ClauseProgress[]): string {
  const asked = progress.filter(({ clause }) => !clause.implied);
  const done = asked.filter(({ steps }) => steps.some((step) => step.outcome === 'ok')).length;
  if (done === asked.length) return 'I stop here, because everything that the question asks for is done.';
  return `I stop here, because no offered tool helps with what is left: ${done} of ${asked.length} parts of the question are done.`;
}

/** A call for a clause. */
interface Call {
  readonly clause: Clause;
  readonly plan: Extract<Plan, { kind: 'call' }>;
}

function called(calls: readonly Call[], history: ModelRequest['history']): ModelTurn {
  const taken = new Set(history.map((step) => step.toolCallId));
  return {
    thought: calls.map(({ clause, plan }) => wordsOf(clause, plan)).join('\n'),
    calls: calls.map(({ plan }, index) => {
      const toolCallId = derivedCallId(history.length + index, index, taken);
      taken.add(toolCallId);
      return { toolCallId, tool: plan.tool.id, arguments: JSON.stringify(plan.arguments) };
    }),
    answer: null,
    inputTokens: 0,
    outputTokens: 0,
  };
}

/** The clause in quotation marks at the beginning of its line is how the next turn knows what this call was for. */
function wordsOf({ key }: Clause, { tool, isCorrection }: Extract<Plan, { kind: 'call' }>): string {
  const why = isCorrection
    ? `once more with the arguments that the error left over`
    : 'because it fits best among the offered tools';
  return `For ${key} I call ${tool.id} ${why}.`;
}

function answered(thought: string, answer: string): ModelTurn {
  return { thought, calls: [], answer, inputTokens: 0, outputTokens: 0 };
}
