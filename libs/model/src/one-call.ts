import type { Model, ModelRequest, ModelSettings, ModelTurn } from '@sluice/core';
import type { Models, ModelSource } from './models.js';

/** A call to be made instead of asking a model: `arguments` as a model would write it, JSON or not. */
export interface OneCall {
  readonly toolId: string;
  readonly arguments: string;
}

/**
 * The configured models, but for the run of one question: its first turn makes exactly one call, and its next one answers with the result.
 * What a model says decides nothing about what may run, so neither does this.
 */
export class OneCallModels implements ModelSource {
  /** Set before the question is asked: which tool it is may be known only once a configuration is in force. */
  call: OneCall | null = null;

  constructor(
    private readonly configured: Models,
    private readonly question: string,
  ) {}

  get(settings: ModelSettings): Promise<Model> {
    return Promise.resolve({
      name: `${settings.provider}/${settings.name ?? 'built-in'}`,
      turn: async (request, options) => {
        const { call } = this;
        if (call !== null && request.question === this.question) return turnOf(call, request);
        return (await this.configured.get(settings)).turn(request, options);
      },
    });
  }
}

function turnOf(call: OneCall, { history }: ModelRequest): ModelTurn {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const last = history.at(-1);
  if (last !== undefined) return { thought: '', calls: [], answer: last.observation || 'Done.', ...usage };
  const made = { toolCallId: 'call-0', tool: call.toolId, arguments: call.arguments };
  return { thought: '', calls: [made], answer: null, ...usage };
}
