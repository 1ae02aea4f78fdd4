import type { Note, NoteKind } from './types.js';

/** Why a turn could not be read. */
type WireFaultKind =
  'html' | 'not_json' | 'wrong_type' | 'wrong_shape' | 'provider_error' | 'cut_off' | 'too_long' | 'damaged';

/**
 * A turn, or a request, that cannot be read. The text holds nothing of what was sent but names of fields and of the
 * provider's error.
 */
export class WireFault extends Error {
  override readonly name = 'WireFault';
  constructor(
    readonly kind: WireFaultKind,
    /** What it did, as a sentence without its subject. */
    readonly predicate: string,
    /** Whether the same request may have another end. */
    readonly isRetryable: boolean,
    /** The provider's name for its error, '' where it gave none. */
    readonly errorName = '',
    /** The provider’s own words for it, which may repeat a key or the prompt: in no message. */
    readonly sentence = '',
  ) {
    super(`The endpoint ${predicate}`);
  }
}

export const faults = {
  html: () =>
    new WireFault(
      'html',
      'answered with an HTML page instead of a model’s turn: check the address of the model.',
      false,
    ),
  notJson: (what: string) => new WireFault('not_json', `sent ${what} that is not JSON; it can be asked again.`, true),
  wrongType: (field: string, expected: string) =>
    new WireFault('wrong_type', `sent something else than ${expected} in ${field}: it does not speak this API.`, false),
  wrongShape: (expected: string) =>
    new WireFault(
      'wrong_shape',
      `answered with JSON that is no model’s turn (${expected} is missing): check the provider and the address of the model.`,
      false,
    ),
  cutOff: () => new WireFault('cut_off', 'broke off before the end of its turn; it can be asked again.', true),
  tooLong: (limit: number) =>
    new WireFault('too_long', `sent more than ${String(limit >> 20)} MB in one turn: lower the output tokens.`, false),
  damaged: () =>
    new WireFault('damaged', 'sent a stream whose checksum or framing is wrong; it can be asked again.', true),
  /** An error that the provider reports in its answer, whole or in the middle of a stream. */
  provider: (error: unknown, status?: number) => {
    const name = errorNames(error);
    const said = [...(status === undefined ? [] : [String(status)]), ...(name === '' ? [] : [name])].join(' ');
    const about = said === '' ? '' : ` (${said})`;
    const isRetryable = isTemporary(name, status);
    const predicate = isRetryable
      ? `reported an error in its turn${about}; it can be asked again.`
      : `refused the request${about}.`;
    return new WireFault('provider_error', predicate, isRetryable, name, errorSentence(error));
  },
};

/** Names of errors that the same request, or the same key, has again. */
const isOfTheRequest =
  /invalid|validation|authentication|unauthori[sz]ed|permission|not_?found|unsupported|quota|billing|denied|context_(?:length|window)|too_(?:large|long|many_tokens)|above_max|max_tokens|content_policy/i;

/** Sorts an error that a provider reports by its status, where there is one, else by its name. */
function isTemporary(errorName: string, status: number | undefined): boolean {
  if (status !== undefined && status >= 400) return [408, 409, 424, 425, 429].includes(status) || status >= 500;
  return !isOfTheRequest.test(errorName);
}

/**
 * A provider's name for an error, '' for anything else. Only words of letters and underscores pass: a message may
 * repeat the key or the prompt, a name does not.
 */
export function errorNames(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const names = ['type', 'code', 'status', 'param', '__type']
    .map((field) => (error as Readonly<Record<string, unknown>>)[field])
    .filter((value): value is string => typeof value === 'string' && /^[A-Za-z_]{3,48}$/.test(value));
  return [...new Set(names)].join(', ');
}

/**
 * What a provider says of an error in its own words, which may repeat a key or the prompt; '' where it says nothing.
 */
export function errorSentence(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return '';
  const { message, detail } = error as Readonly<Record<string, unknown>>;
  return [message, detail].find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? '';
}

/** What a note means, for a log line or a page. */
export const noteMeanings: Readonly<Record<NoteKind, string>> = {
  unknown_event: 'An event of a kind that is not known was skipped.',
  unknown_block: 'A block of a kind that is not known was kept as it came and not read.',
  unknown_field: 'A field that is not known was skipped.',
  whole_for_stream: 'A whole answer came where a stream was asked for; it was taken.',
  finish_missing: 'A complete answer came without a reason for its end; it was taken.',
  calls_beside_stop: 'Calls came with an end that is of an answer; they were taken as calls.',
  finish_without_calls: 'An end that is of calls came without any; the text was taken as the answer.',
  malformed_call: 'The provider could not read the model’s call; it is given back to the model as invalid JSON.',
  repeated_arguments: 'Arguments that came twice, or beside an empty object, were taken once.',
  bad_usage: 'A count of tokens that is no whole number, or below zero, was ignored.',
};

/**
 * Counts what was skipped. It keeps no more than a hundred different ones apart, so that a hostile stream costs no
 * memory.
 */
export class Notes {
  private readonly counts = new Map<string, { readonly kind: NoteKind; readonly what: string; count: number }>();
  /** How many there were in all. */
  total = 0;

  add(kind: NoteKind, what: string, count = 1): void {
    this.total += count;
    const name = /^[\w.[\]:-]{1,80}$/.test(what) ? what : '(other)';
    const key = `${kind} ${this.counts.size < 100 ? name : '(other)'}`;
    const found = this.counts.get(key);
    if (found === undefined) this.counts.set(key, { kind, what: key.slice(kind.length + 1), count });
    else found.count += count;
  }

  addAll(others: Notes): void {
    for (const { kind, what, count } of others.list()) this.add(kind, what, count);
  }

  list(): readonly Note[] {
    return [...this.counts.values()].map((note) => ({ ...note }));
  }
}
