import { AISDKError, APICallError } from '@ai-sdk/provider';
import { Fault } from '@sluice/core';
import type { ModelTool } from '@sluice/core';
import { errorName, sentenceOf, statusOf, systemCode } from './error-reading.js';
import { quoted, toolNamed } from './refusal.js';

/**
 * What can go wrong with one turn, in the words and codes of core. The provider’s own sentence is passed on where it refuses the request
 * itself, without secrets; where it refuses the key, it may repeat that.
 */
export interface Faults {
  /** An error before the stream began. Returns the signal's reason if it was aborted. */
  fromRequest(error: unknown): unknown;
  /** An error in the middle of the stream. Returns the signal's reason if it was aborted. */
  fromStream(error: unknown): unknown;
  cutOff(): Fault;
  outOfTokens(): Fault;
  emptyTurn(filtered: boolean): Fault;
  /** A turn with calls that the provider's content filter stopped. */
  filteredCalls(): Fault;
  /** A turn with calls that the provider ended with an error. */
  failedTurn(): Fault;
}

export interface FaultContext {
  readonly signal: AbortSignal;
  /** The tools that are sent, in their order. */
  readonly tools: readonly ModelTool[];
  /** Removes secrets from a text of the provider. */
  readonly hide: (text: string) => string;
}

export function createFaults(name: string, { signal, tools, hide }: FaultContext): Faults {
  const unreachable = (text: string) => new Fault('model_unreachable', `The model ${name} ${text}`, true);
  const refused = (text: string) => new Fault('model_refused', `The model ${name} ${text}`, false);
  const cutOff = () => unreachable('broke off before the end of its turn; it can be asked again.');

  function fromStatus(status: number, error: unknown): Fault {
    const said = [String(status), errorName(error)].filter((part) => part !== '').join(' ');
    if (status === 429) return unreachable(`asks to wait (${said}).`);
    if (isTemporary(status)) return unreachable(`failed on its own side (${said}); it can be asked again.`);
    if (status === 401 || status === 403)
      return refused(`did not accept the key (${said}): check the variable named in model.api_key_env.`);
    if (status === 404) return refused(`was not found (${said}): check model.name and model.base_url.`);
    return refusedRequest(said, error);
  }

  function refusedRequest(said: string, error: unknown): Fault {
    const sentence = sentenceOf(error);
    const why = sentence === '' ? '' : `: ${quoted(sentence, hide)}`;
    const tool = toolNamed(sentence, tools);
    const remedy =
      tool === undefined
        ? 'Check model.name, model.max_output_tokens and the tools’ schemas.'
        : `This is about the tool ${tool}: take it out of policy.allowed_tools, or have its server describe it otherwise.`;
    return refused(`refused the request (${said})${why === '' ? '.' : why} ${remedy}`);
  }

  function fromRequest(error: unknown): unknown {
    if (signal.aborted) return signal.reason;
    const status = statusOf(error);
    if (status !== undefined && status >= 400) return fromStatus(status, error);
    if (systemCode(error) === 'ERR_INVALID_URL') return refused('has no valid address: check model.base_url.');
    // The library itself refuses to send what the provider does not take.
    if (AISDKError.isInstance(error) && !APICallError.isInstance(error)) {
      return refused(`cannot be sent this request (${error.name}): check the tools’ schemas and the model’s settings.`);
    }
    const code = systemCode(error);
    return unreachable(`could not be reached${code === '' ? '' : ` (${code})`}: check model.base_url and the network.`);
  }

  function fromStream(error: unknown): unknown {
    if (signal.aborted) return signal.reason;
    const status = statusOf(error);
    if (status !== undefined && status >= 400) return fromStatus(status, error);
    const said = errorName(error);
    if (said === '') return cutOff();
    if (/authentication|permission/i.test(said)) return refused(`refused the request (${said}).`);
    return isFinal(said) ? refusedRequest(said, error) : unreachable(`reported an error in its turn (${said}).`);
  }

  return {
    fromRequest,
    fromStream,
    cutOff,
    outOfTokens: () => refused('used up its tokens before the turn was complete: raise model.max_output_tokens.'),
    emptyTurn: (filtered) =>
      refused(`gave an empty turn${filtered ? ': its content filter stopped it' : ''}; ask in other words.`),
    filteredCalls: () =>
      refused(
        'was stopped by its content filter within a turn with tool calls, so none of them was run; ask in other words.',
      ),
    failedTurn: () =>
      unreachable('ended a turn with tool calls with an error, so none of them was run; it can be asked again.'),
  };
}

/** Statuses after which the same request may work; 424 is Bedrock's word for a model that failed while it wrote. */
function isTemporary(status: number): boolean {
  return [408, 409, 424, 425, 429].includes(status) || status >= 500;
}

/** Reports without a status, distinguished by their type. */
function isFinal(type: string): boolean {
  return /invalid|authentication|permission|not_found|unsupported|quota|billing/i.test(type);
}
