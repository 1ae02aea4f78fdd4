import { Fault, finishReasonOf, isJsonObject, type ModelTool } from '@sluice/core';
import { errorNames, errorSentence, type Finish, WireFault } from '@sluice/wires';
import { patience } from './http.js';
import { quoted, toolNamed } from './refusal.js';

/**
 * What can go wrong with one turn, in the words and codes of core. The provider’s own sentence is passed on where it
 * refuses the request itself, without secrets; where it refuses the key, it may repeat that.
 */
export interface Faults {
  /** An error before the response began. Returns the signal's reason if it was aborted. */
  fromRequest(error: unknown): unknown;
  /** A response that is no turn, by its status; `type` is a name of the error that its headers give. */
  fromStatus(status: number, body: string, type: string): Fault;
  /**
   * An error while the turn was read. Returns the signal's reason if it was aborted, and what is not of reading as it
   * is.
   */
  fromStream(error: unknown): unknown;
  outOfTokens(): Fault;
  emptyTurn(finish: Finish, finishAs: string | null): Fault;
  /**
   * A turn with calls that the provider does not stand by: its content filter stopped it, or it ended in a way that
   * is not known.
   */
  unrunCalls(isFiltered: boolean, finishAs: string | null): Fault;
  /** A turn that the provider ended with an error, or cancelled. */
  failedTurn(finishAs: string | null): Fault;
  /** The provider’s word for the end of a turn, without secrets. */
  finishReason(finishAs: string | null): string;
}

interface FaultContext {
  readonly signal: AbortSignal;
  /** The tools that are sent, in their order. */
  readonly tools: readonly ModelTool[];
  /** Removes secrets from a text of the provider. */
  readonly hide: (text: string) => string;
}

const unended = ', which no stop ended';
/** What is said of a turn that had nothing in it, by how it ended. */
const whyEmpty: Readonly<Record<Finish, string>> = {
  ...{ stop: '', calls: '', filtered: ': its content filter stopped it' },
  ...{ length: unended, error: unended, paused: unended, other: unended },
};

export function createFaults(name: string, { signal, tools, hide }: FaultContext): Faults {
  const unreachable = (text: string, brief: string) =>
    new Fault('model_unreachable', `The model ${name} ${text}`, true, { brief });
  const refused = (text: string) => new Fault('model_refused', `The model ${name} ${text}`, false);

  const finishReason = (finishAs: string | null): string => finishReasonOf(hide(finishAs ?? ''));
  const said = (finishAs: string | null): string => {
    const word = finishReason(finishAs);
    return word === '' ? '' : ` (“${word}”)`;
  };

  function fromStatus(status: number, body: string, type: string): Fault {
    const error = errorIn(body);
    const named = [errorNames(error), errorNames({ type })].filter((part) => part !== '');
    const names = [String(status), ...new Set(named)].join(' ');
    if (status === 429) return unreachable(`asks to wait (${names}).`, 'it asks to wait (429)');
    if (isTemporary(status))
      return unreachable(
        `failed on its own side (${names}); it can be asked again.`,
        `it failed on its own side (${status})`,
      );
    if (status === 401 || status === 403) return keyRefused(names);
    if (status === 404) return refused(`was not found (${names}): check model.name and model.base_url.`);
    if (status >= 300 && status < 400) return refused(`answered with a redirect (${names}): check model.base_url.`);
    if (status < 300) return refused(`answered without a turn (${names}): check model.base_url.`);
    const sentence = errorSentence(error);
    return isAboutKey(names, sentence) ? keyRefused(names) : refusedRequest(names, sentence);
  }

  function keyRefused(names: string): Fault {
    const about = names === '' ? '' : ` (${names})`;
    return refused(`did not accept the key${about}: check the variable named in model.api_key_env.`);
  }

  function refusedRequest(names: string, sentence: string): Fault {
    const why = sentence === '' ? '.' : `: ${quoted(sentence, hide)}`;
    const tool = toolNamed(sentence, tools);
    const remedy =
      tool === undefined
        ? 'Check model.name, model.max_output_tokens and the tools’ schemas.'
        : `This is about the tool ${tool}: take it out of policy.allowed_tools, or have its server describe it otherwise.`;
    const about = names === '' ? '' : ` (${names})`;
    return refused(`refused the request${about}${why} ${remedy}`);
  }

  function fromRequest(error: unknown): unknown {
    if (signal.aborted) return signal.reason;
    const code = systemCode(error);
    switch (code) {
      case 'ERR_INVALID_URL':
      case 'UND_ERR_INVALID_ARG':
        return refused('has no valid address: check model.base_url.');
      case 'UND_ERR_CONNECT_TIMEOUT':
        return unreachable(
          `could not be connected to within ${seconds(patience.connectMs)}: check model.base_url.`,
          'no connection in time',
        );
      case 'UND_ERR_HEADERS_TIMEOUT':
        return unreachable(
          `sent nothing within ${seconds(patience.firstByteMs)}; it can be asked again.`,
          'it sent nothing in time',
        );
      default:
        return unreachable(
          `could not be reached${code === '' ? '' : ` (${code})`}: check model.base_url and the network.`,
          inWords(code),
        );
    }
  }

  function fromStream(error: unknown): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof WireFault) {
      const { isRetryable, kind, errorName, predicate, sentence } = error;
      if (isRetryable) return unreachable(predicate, 'it ended its turn with an error');
      if (kind !== 'provider_error') return refused(predicate);
      return isAboutKey(errorName, sentence) ? keyRefused(errorName) : refusedRequest(errorName, sentence);
    }
    const code = systemCode(error);
    if (code === 'UND_ERR_BODY_TIMEOUT')
      return unreachable(
        `was silent for ${seconds(patience.silenceMs)} within its turn; it can be asked again.`,
        'it fell silent within its turn',
      );
    return unreachable('broke off before the end of its turn; it can be asked again.', 'it broke off within its turn');
  }

  return {
    fromRequest,
    fromStatus,
    fromStream,
    outOfTokens: () => refused('used up its tokens before the turn was complete: raise model.max_output_tokens.'),
    emptyTurn: (finish, finishAs) => {
      const why = whyEmpty[finish];
      return refused(`gave an empty turn${why}${why === '' ? '' : said(finishAs)}; ask in other words.`);
    },
    unrunCalls: (isFiltered, finishAs) =>
      refused(
        isFiltered
          ? `was stopped by its content filter${said(finishAs)} within a turn with tool calls, so none of them was run; ask in other words.`
          : `ended a turn with tool calls for a reason that is not known${said(finishAs)}, so none of them was run; ask in other words, or check the server behind model.base_url.`,
      ),
    failedTurn: (finishAs) =>
      unreachable(
        `ended its turn with an error${said(finishAs)}; it can be asked again.`,
        'it ended its turn with an error',
      ),
    finishReason,
  };
}

/** Whether an error is about the key, by its names or, with status 400 as Google has it, by what it says. */
function isAboutKey(names: string, sentence: string): boolean {
  return (
    /authentication|unauthori[sz]ed|unauthenticated|permission|api_?key/i.test(names) ||
    /\bapi[ _-]?key (?:is )?(?:not valid|invalid|expired|not found|missing|required)|\b(?:invalid|incorrect|expired|missing) api[ _-]?key/i.test(
      sentence,
    )
  );
}

/** What an operating system’s or TLS’s code says, without any address. */
function inWords(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'connection closed';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name is not known';
    case 'ETIMEDOUT':
      return 'no connection in time';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'no way to its host';
    default:
      return /CERT|TLS|SSL|SIGNED/.test(code) ? 'its certificate does not hold' : 'it could not be reached';
  }
}

function seconds(ms: number): string {
  return `${String(ms / 1_000)} seconds`;
}

/** Statuses after which the same request may work; 424 is Bedrock's word for a model that failed while it wrote. */
function isTemporary(status: number): boolean {
  return [408, 409, 424, 425, 429].includes(status) || status >= 500;
}

/** The operating system's, Node's or undici's code behind an error ('ECONNREFUSED'), '' where there is none. */
function systemCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; isJsonObject(at) && depth < 8; at = at['cause'] ?? firstOf(at), depth += 1) {
    const code: unknown = at['code'];
    if (typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code)) return code;
  }
  return '';
}

/** Of an AggregateError, as for a name with several addresses. */
function firstOf(error: Readonly<Record<string, unknown>>): unknown {
  return Array.isArray(error['errors']) ? error['errors'][0] : undefined;
}

/** The object that carries the names of an error. A body that is not JSON names nothing. */
function errorIn(body: string): unknown {
  let whole: unknown;
  try {
    whole = JSON.parse(body);
  } catch {
    return undefined;
  }
  const [first] = Array.isArray(whole) ? (whole as unknown[]) : [whole];
  return isJsonObject(first) ? (first['error'] ?? first) : first;
}
