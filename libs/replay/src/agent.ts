import { positionOf } from '@sluice/contracts';
import { modelName, spanBudgetEnd, sumOfOthers } from '@sluice/core';
import type { AgentResponse, StrategyDecision, ToolCall, Toolset, TurnModel } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import {
  answer,
  answerInvalid,
  boundedTurn,
  cancelledTurn,
  endOfDead,
  modelRequestOf,
  modelsOfRun,
  nextMove,
  othersOfTurn,
  outOfTime,
  outOfTimeQuarantined,
  promptTokensOf,
  spanBudgetUsed,
  toolCall,
  turnModel,
  withTools,
} from '@sluice/run';
import type { Move } from '@sluice/run';
import type { Run } from '@sluice/contracts';
import type { RecordedConfigurations } from './configurations.js';
import type { DeadLetters, RunRecords } from './run-records.js';

/** The record of a turn, from what the model is recorded to have said; the model is not asked again. */
export function deriveTurn(
  { record }: Incoming<'agent.tool-calls'>,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly ToolCall[] {
  const { recordSignature } = record;
  return toolsetsOf(run, record.iteration).map((toolset) => {
    const after = afterTurn(toolset, record.run, record.model, configurations);
    const move = moveOf(toolset, record.decision, configurations);
    // A planned call follows from the plan, whatever is recorded.
    if (move.kind === 'call') {
      const { limits } = configurations.get(toolset.configVersion).configuration;
      const turn = { ...move.turn, model: null, decision: move.decision };
      return { ...boundedTurn(toolset, after, turn, limits), recordSignature };
    }
    const decision = move.kind === 'react' ? null : move.decision;
    const model = modelOf(record.model, toolset, configurations);
    return { ...toolCall(toolset, after, { ...record, model, decision }), recordSignature };
  });
}

/** The end of a run with the model’s answer, or with none in time. */
export function deriveAgentEnd(
  { record }: Incoming<'agent.responses'>,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly AgentResponse[] {
  const { run: ended, endedAt } = record;
  if (ended === null) return [];
  const toolsets = toolsetsOf(run, ended.iteration);
  if (record.answer !== null)
    return toolsets.map((toolset) => {
      const model = modelOf(record.model, toolset, configurations);
      const move = moveOf(toolset, record.decision, configurations);
      const decision = move.kind === 'react' ? null : move.decision;
      // How the provider ended the turn is the model’s word, like its text.
      const said = { answer: record.answer ?? '', incomplete: record.incomplete, structured: record.structured };
      const after = afterTurn(toolset, ended, record.model, configurations);
      return answer(toolset, after, { ...said, model, decision }, endedAt);
    });
  // That it was cancelled the ledger knew, and why the record says.
  const { error } = record;
  if (error?.code === 'cancelled')
    return toolsets.map((toolset) =>
      cancelledTurn(toolset, afterTurn(toolset, ended, null, configurations), error, endedAt),
    );
  // What the model answered is not kept, and the record says what was wrong with it.
  if (error?.code === 'answer_invalid')
    return toolsets.map((toolset) =>
      answerInvalid(toolset, afterTurn(toolset, ended, null, configurations), error.message, endedAt),
    );
  if (error?.code === 'span_budget_exceeded')
    return toolsets.flatMap((toolset) => {
      const { policy } = configurations.get(toolset.configVersion).configuration;
      // What was used before the ledger knew, and the record says.
      const { budgets } = record;
      const end = spanBudgetEnd(policy.budgets.spans ?? [], budgets);
      const after = afterTurn(toolset, ended, null, configurations);
      return end === null ? [] : [spanBudgetUsed({ ...toolset, run: after }, { end, budgets }, endedAt)];
    });
  // What was quarantined the ledger knew, and the record says.
  const end = record.error?.code === 'record_quarantined' ? outOfTimeQuarantined : outOfTime;
  return toolsets.filter((toolset) => endedAt >= toolset.run.deadline).map((toolset) => end(toolset, endedAt));
}

/**
 * The end of a run whose record became a dead letter. Of a request’s tenant its credential spoke, and credentials are
 * not kept.
 */
export function deriveDeadEnd(
  { record }: Incoming<'agent.responses'>,
  run: RunRecords,
  dead: DeadLetters,
): readonly AgentResponse[] {
  if (dead.size === 0) return [];
  const messages = [...run.requests, ...run.toolsets, ...run.calls, ...run.steps, ...run.approvals, ...run.returns];
  const own = messages.flatMap((message) => {
    const letter = dead.get(positionOf(message));
    return letter === undefined ? [] : [{ ...message, ...letter, message }];
  });
  const known = new Set(own.map(positionOf));
  // What could not be decoded is no message; which run it was of stands in its bytes or its key.
  const undecoded = [...dead.values()]
    .filter(
      (letter) => letter.code === 'undecodable' && letter.key === record.sessionId && !known.has(positionOf(letter)),
    )
    .map((letter) => ({ ...letter, message: null }));
  return [...own, ...undecoded].flatMap((one) => {
    const end = endOfDead(one as Parameters<typeof endOfDead>[0], record.tenantId, record.endedAt);
    // Other requests of the session may have ended so as well.
    return end === null || end.response.requestId !== record.requestId ? [] : [end.response];
  });
}

function toolsetsOf({ toolsets }: RunRecords, iteration: number): readonly Toolset[] {
  return toolsets.filter(({ record }) => record.iteration === iteration).map(({ record }) => record);
}

/** What the run’s strategy makes of the turn. A run that works by none needs no configuration for that. */
function moveOf(toolset: Toolset, recorded: StrategyDecision | null, configurations: RecordedConfigurations): Move {
  if (toolset.run.strategy === null && recorded === null) return { kind: 'react' };
  const evaluator = configurations.get(toolset.configVersion);
  return nextMove(withTools(toolset, evaluator), evaluator);
}

/**
 * The model that took the turn: one of the configuration’s list, asked what the Toolset says, and behind those that
 * were asked before it. Which of them was out of reach, and why, only the record knows.
 */
function modelOf(
  recorded: TurnModel | null,
  toolset: Toolset,
  configurations: RecordedConfigurations,
): TurnModel | null {
  if (recorded === null) return null;
  const evaluator = configurations.get(toolset.configVersion);
  const names = modelsOfRun(toolset.run, evaluator).map(modelName);
  const place = Math.max(0, names.indexOf(recorded.name));
  const passedOver = recorded.passedOver
    .slice(0, place)
    .map((one, before) => ({ ...one, name: names[before] ?? one.name }));
  // That it was asked once more the model’s first reply decided, which is not recorded. What discovery chose is an
  // input of the turn: it may have asked an embedding model, or gone by what was called before.
  const { shown, nativeSearch, askedAgain, budgets } = recorded;
  // Tokens were counted by a tokenizer that may be another one now.
  return turnModel(
    modelRequestOf(withTools(toolset, evaluator), evaluator, shown, undefined, nativeSearch !== null),
    names[place] ?? recorded.name,
    passedOver,
    shown,
    recorded,
    askedAgain,
    budgets,
  );
}

/**
 * The tokens that a turn used are the model’s word; all else of the run is the Toolset’s. What another model’s cost
 * follows from its name, which the end of a cancelled run does not have.
 */
function afterTurn(
  { run, configVersion }: Toolset,
  used: Run,
  model: TurnModel | null,
  configurations: RecordedConfigurations,
): Run {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = used;
  const tokens = { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens };
  const after = { ...run, ...tokens, ...promptTokensOf(used) };
  if (model === null) return { ...after, otherModels: used.otherModels };
  const turn = {
    inputTokens: inputTokens - run.inputTokens,
    outputTokens: outputTokens - run.outputTokens,
    cachedInputTokens: cachedInputTokens - run.cachedInputTokens,
    cacheWriteTokens: cacheWriteTokens - run.cacheWriteTokens,
  };
  const others = othersOfTurn(turn, model.name, modelsOfRun(run, configurations.get(configVersion)));
  return { ...after, otherModels: sumOfOthers(run.otherModels, others) };
}
