import {
  bindTools,
  Fault,
  isJsonObject,
  loadedTools,
  neededTools,
  promptHash,
  searchesIn,
  searchToolsType,
  toolChoiceOf,
} from '@sluice/core';
import type {
  BindingFacts,
  BoundTools,
  Evaluator,
  JsonObject,
  ModelRequest,
  ModelTool,
  SearchedTools,
  StepSearch,
} from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { OfferedTool, TurnModel, Toolset } from '@sluice/contracts';
import { instructionsFor } from './agent-runs.js';
import { answerForm, answerSchemaOf } from './answer-schema.js';
import { nextMove } from './strategy/next-move.js';
import { inContext } from './strategy/confidence/context-for.js';
import { promptOfMove } from './strategy/prompt.js';
import { sideBySideIn, supervisorInstructions } from './strategy/supervise.js';

/** What a model is asked, and which tools it is described in brief. */
interface BoundRequest {
  readonly request: ModelRequest;
  readonly bound: BoundTools;
}

/**
 * What a model is asked in a turn, as the run’s strategy has it asked, with its tools in the form that the
 * configuration gives them; `shown` has the ids of the offered tools that discovery chose, null for all; where
 * `isSearched`, the others are sent for the provider’s own search. Throws Fault('schema_invalid') for a tool whose
 * schema is none.
 */
export function modelRequestOf(
  toolset: Toolset,
  evaluator: Evaluator,
  shown: readonly string[] | null = null,
  move = nextMove(toolset, evaluator),
  isSearched = false,
): BoundRequest {
  const whole = inContext(wholeRequest(toolset, evaluator), move, toolset, evaluator);
  const schema = answerSchemaOf(toolset.request, toolset.run, evaluator.configuration);
  const form = schema === null ? null : answerForm(schema);
  const held = schema === null ? {} : { answerSchema: schema };
  if (move.kind === 'ask') {
    const asked = { ...whole, ...promptOfMove(move, toolset, evaluator, whole.instructions, modelTool) };
    // A turn for one call gives no answer.
    const request =
      form === null || asked.tools.length > 0
        ? asked
        : { ...asked, ...held, instructions: `${asked.instructions}\n\n${form}` };
    return { request, bound: { tools: request.tools, deferred: [], note: null } };
  }
  const facts = { evaluator, history: toolset.request.history, toolChoice: whole.toolChoice };
  const bound = bindTools(whole.tools, facts, shown);
  const isSupervisor = move.kind === 'supervise';
  const parts = [whole.instructions, isSupervisor ? supervisorInstructions : null, bound.note, form];
  const instructions = parts.filter((part) => part !== null).join('\n\n');
  const beside = isSupervisor ? { sideBySide: sideBySideIn(toolset, evaluator) } : {};
  const searched = isSearched && shown !== null ? searchedTools(whole.tools, shown, facts) : null;
  const request = {
    ...whole,
    ...beside,
    ...held,
    instructions,
    tools: bound.tools,
    ...(searched === null ? {} : { searched }),
  };
  return { request, bound };
}

/** The tools that the provider’s own search finds, in their full texts; null where the configuration has none. */
function searchedTools(
  offered: readonly ModelTool[],
  shown: readonly string[],
  facts: BindingFacts,
): SearchedTools | null {
  const settings = facts.evaluator.configuration.agentDiscovery?.nativeSearch;
  if (settings === undefined) return null;
  const { byId } = facts.evaluator;
  const isFound = ({ id }: ModelTool): boolean => !shown.includes(id) && byId(id)?.type !== searchToolsType;
  return { settings, tools: loadedTools(offered, facts).filter(isFound) };
}

/** What discovery chooses from for a turn. */
export interface SearchedRequest {
  /** With the full texts of the tools that can be shown now. */
  readonly request: ModelRequest;
  /** Ids of those that must be shown. */
  readonly needed: readonly string[];
  /** Ids of those that the run’s model found by a search. */
  readonly found: readonly string[];
  /** Ids of those that search for tools. */
  readonly searching: readonly string[];
  /** What the model searched for in the turn before. */
  readonly searches: readonly StepSearch[];
}

export function searchedRequestOf(toolset: Toolset, evaluator: Evaluator): SearchedRequest {
  const whole = wholeRequest(toolset, evaluator);
  const { history } = toolset.request;
  const facts = { evaluator, history, toolChoice: whole.toolChoice };
  const tools = loadedTools(whole.tools, facts);
  const searching = tools.flatMap(({ id }) => (evaluator.byId(id)?.type === searchToolsType ? [id] : []));
  const all = searchesIn(history, evaluator);
  const found = all.some(({ by }) => by === 'all') ? tools.map(({ id }) => id) : all.flatMap((one) => one.found);
  const searches = all.filter(({ iteration }) => iteration === toolset.iteration - 1);
  return { request: { ...whole, tools }, needed: neededTools(tools, facts), found, searching, searches };
}

/** With every tool that was offered, in full. */
function wholeRequest(toolset: Toolset, evaluator: Evaluator): ModelRequest {
  return {
    instructions: instructionsFor(toolset.run, evaluator),
    question: toolset.request.question,
    ...saidBefore(toolset.request),
    ...(toolset.request.content ? { content: toolset.request.content } : {}),
    ...earlierOf(toolset.run),
    ...(toolset.request.sampling ? { sampling: toolset.request.sampling } : {}),
    state: toolset.state,
    history: toolset.request.history.map((step) => ({
      ...step,
      toolId: evaluator.tool(step.action)?.id ?? step.action,
    })),
    tools: toolset.tools.map(modelTool),
    toolChoice: toolChoiceOf(toolset.toolChoice),
  };
}

/** Requests without a conversation are asked as before there was one. */
function saidBefore({ conversation }: Pick<Toolset['request'], 'conversation'>): Pick<ModelRequest, 'conversation'> {
  return conversation === null || conversation.length === 0 ? {} : { conversation };
}

/** The earlier runs that the record has: equal records give equal requests. */
function earlierOf({ memory }: Pick<Toolset['run'], 'memory'>): Pick<ModelRequest, 'earlier'> {
  if (memory === null || memory.length === 0) return {};
  return { earlier: memory.map(({ question, answer }) => ({ question, answer })) };
}

/** The request with a reminder behind its instructions: what was wrong with the model’s first reply. */
export function withReminder(request: ModelRequest, reminder: string): ModelRequest {
  return { ...request, instructions: `${request.instructions}\n\n${reminder}` };
}

/**
 * The model that took a turn, as the turn’s record names it; `name` is that of `modelName`. Where `reminder` is not
 * null, the turn is the reply to the second request, which had it.
 */
export function turnModel(
  { request: first, bound }: BoundRequest,
  name: string,
  passedOver: TurnModel['passedOver'],
  shown: TurnModel['shown'] = null,
  counted: CountedTokens = uncounted,
  reminder: TurnModel['askedAgain'] = null,
  budgets: TurnModel['budgets'] = [],
): TurnModel {
  const request = reminder === null ? first : withReminder(first, reminder);
  const { definitionTokens, resultTokens, otherTokens, tokenizer } = counted;
  return {
    ...{ name, promptHash: promptHash(request, name, sha256), passedOver, shown, deferred: bound.deferred },
    nativeSearch: request.searched === undefined ? null : 'provider',
    ...{ definitionTokens, resultTokens, otherTokens, tokenizer, askedAgain: reminder, budgets },
  };
}

/** What a turn’s request is made of, in tokens. */
export type CountedTokens = Pick<TurnModel, 'definitionTokens' | 'resultTokens' | 'otherTokens' | 'tokenizer'>;

const uncounted: CountedTokens = { definitionTokens: null, resultTokens: null, otherTokens: null, tokenizer: null };

function modelTool({
  id,
  description,
  inputSchema,
}: Pick<OfferedTool, 'id' | 'description' | 'inputSchema'>): ModelTool {
  return { id, description, inputSchema: schemaOf(id, inputSchema) };
}

function schemaOf(id: string, text: string): JsonObject {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (isJsonObject(schema)) return schema;
  throw new Fault(
    'schema_invalid',
    `The input schema of the tool ${id} is no JSON object, so the model was not asked.`,
    false,
  );
}
