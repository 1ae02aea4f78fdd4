import { defaultSearchTool } from '@sluice/configuration';
import { loadToolsetType, toolPage } from '@sluice/core';
import type { Model, ModelCall, ModelSettings, ModelStep } from '@sluice/core';
import { queryOf, searchResultText, searchTools } from '@sluice/discovery';
import { createModel } from '@sluice/model';
import type { Chosen } from './chooser.js';
import { withLoaded } from './job.js';
import { asOffered, atFirst, offeredBy, sent } from './sending.js';
import type { Approach, Closeness, Progress } from './sending.js';

/** Turns of one question: pages, groups and searches, then the call. */
const mostTurns = 5;
const turnMs = 60_000;

/** A real model, where the environment holds a key; `BENCH_MODEL` names another than the small one. */
export async function modelOfEnvironment(environment: NodeJS.ProcessEnv): Promise<Model | null> {
  const given = { baseUrl: null, region: null, maxOutputTokens: 1_024 };
  const settings: readonly ModelSettings[] = [
    { ...given, provider: 'anthropic', name: 'claude-haiku-4-5', apiKeyEnv: 'ANTHROPIC_API_KEY' },
    { ...given, provider: 'openai-responses', name: 'gpt-5-mini', apiKeyEnv: 'OPENAI_API_KEY' },
    { ...given, provider: 'google', name: 'gemini-2.5-flash', apiKeyEnv: 'GEMINI_API_KEY' },
  ];
  const found = settings.find(({ apiKeyEnv }) => environment[apiKeyEnv ?? ''] !== undefined);
  if (found === undefined) return null;
  const name = environment['BENCH_MODEL'] ?? found.name;
  return createModel({ ...found, name }, { secret: (variable) => environment[variable] });
}

/**
 * The first tool that a model calls for a question, and what it asks for before: pages, groups and searches are
 * answered as Sluice answers them, and nothing is run.
 */
export async function askModel(
  model: Model,
  approach: Approach,
  question: string,
  closeness: Closeness,
): Promise<Chosen> {
  const { evaluator } = approach;
  let progress = atFirst(question);
  const history: ModelStep[] = [];
  for (let turn = 0; turn < mostTurns; turn++) {
    const { tools, note } = await sent(approach, progress, closeness);
    const instructions = [evaluator.configuration.instructions, ...(note === null ? [] : [note])].join('\n');
    const request = {
      instructions,
      question,
      state: 'undefined',
      history,
      tools,
      toolChoice: { type: 'auto' } as const,
    };
    const { calls } = await model.turn(request, { signal: AbortSignal.timeout(turnMs) });
    const [call] = calls;
    if (call === undefined) return { tool: null, extraCalls: turn };
    const answer = await answered(approach, call, progress);
    if (answer === null) return { tool: evaluator.byId(call.tool)?.key ?? null, extraCalls: turn };
    progress = answer.progress;
    history.push(stepOf(call, answer.text, turn + 1));
  }
  return { tool: null, extraCalls: mostTurns };
}

/** The answer to a call that only looks for the right tool; null for the choice itself. */
async function answered(
  approach: Approach,
  call: ModelCall,
  progress: Progress,
): Promise<{ readonly text: string; readonly progress: Progress } | null> {
  const { evaluator } = approach;
  const all = offeredBy(approach).map(asOffered);
  if (call.tool === defaultSearchTool) {
    const query = queryOf(call.arguments);
    const { matches } = await searchTools(all, query, { maxResults: 5, alwaysKeep: new Set() });
    const found = matches.flatMap((at) => all[at] ?? []);
    const names = new Set([...progress.found, ...found.map(({ name }) => name)]);
    return { text: searchResultText(query, found), progress: { ...progress, found: names } };
  }
  const called = evaluator.byId(call.tool);
  if (called?.type === loadToolsetType) {
    const group = /"group"\s*:\s*"([^"]*)"/.exec(call.arguments)?.[1] ?? '';
    return { text: `The group ${group} is there from the next turn on.`, progress: withLoaded(progress, group) };
  }
  const page = /"tools\/([\w-]+)\.md"/.exec(call.arguments)?.[1];
  if (called?.type !== 'read_file' || page === undefined) return null;
  const tool = evaluator.byId(page) ?? evaluator.tool(page);
  return { text: tool === undefined ? 'There is no such file.' : toolPage(tool), progress };
}

function stepOf({ tool, toolCallId, arguments: args }: ModelCall, observation: string, iteration: number): ModelStep {
  return {
    ...{ thought: '', action: tool, toolId: tool, arguments: args, observation, outcome: 'ok', reason: null },
    ...{ stateBefore: 'undefined', state: 'undefined', toolCallId, iteration, index: 0, startedAt: 0, endedAt: 0 },
    ...{ resultHash: null, agentRun: null, providerData: null, cachedAt: null, documentation: null },
    ...{ content: [], questions: [], rule: null, facts: {}, edited: null },
  };
}
