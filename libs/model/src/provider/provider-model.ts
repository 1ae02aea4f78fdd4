import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Model, ModelOptions, ModelRequest, ModelSettings, ModelTurn } from '@sluice/core';
import { createFaults } from './faults.js';
import { choiceOf, definitionsOf, promptOf } from './prompt.js';
import { hiding } from './refusal.js';
import { readStream } from './stream.js';
import { turnOf } from './turn.js';

/** One provider's language model, and what is particular about it. */
export interface ProviderSetup {
  readonly model: LanguageModelV4;
  readonly settings: ModelSettings;
  /** The provider's model id. */
  readonly name: string;
  /** What the provider is shown and must not be repeated of. */
  readonly secrets: readonly string[];
  /** Settings that only this provider's library knows, by its name. */
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Whether its API has no way of saying that none of the tools it is sent may be called: then it is sent none. */
  readonly lacksNone?: boolean;
  /** The call ids in one raw chunk of the stream, where the library makes up ids of its own for those that lack one. */
  readonly wireCallIds?: (chunk: unknown) => string[];
}

/**
 * The Model port over a provider's streaming interface: one request a turn, no retries (the bus retries), nothing run.
 * Faults as the port promises them (core, ports/model.ts).
 */
export function createProviderModel(setup: ProviderSetup): Model {
  const name = `${setup.settings.provider}/${setup.name}`;

  async function turn(request: ModelRequest, options: ModelOptions): Promise<ModelTurn> {
    options.signal.throwIfAborted();
    const faults = createFaults(name, { signal: options.signal, tools: request.tools, hide: hiding(setup.secrets) });
    const stream = await open(request, options).catch((error: unknown) => {
      throw faults.fromRequest(error);
    });
    const read = await readStream(stream, { faults, onText: options.onText, wireCallIds: setup.wireCallIds });
    return turnOf(read, request.history, faults);
  }

  async function open(asked: ModelRequest, options: ModelOptions) {
    const withheld = asked.toolChoice.type === 'none' && setup.lacksNone === true;
    const request = withheld ? { ...asked, tools: [] } : asked;
    const call: LanguageModelV4CallOptions = {
      prompt: promptOf(request),
      maxOutputTokens: setup.settings.maxOutputTokens,
      abortSignal: options.signal,
      ...(setup.providerOptions === undefined ? {} : { providerOptions: setup.providerOptions }),
      includeRawChunks: setup.wireCallIds !== undefined,
      ...(request.tools.length === 0
        ? {}
        : { tools: definitionsOf(request.tools), toolChoice: choiceOf(request.toolChoice) }),
    };
    return (await setup.model.doStream(call)).stream;
  }

  return { name, turn };
}
