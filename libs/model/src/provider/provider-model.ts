import { sampledSettings, tokenSum } from '@sluice/core';
import type { JsonObject, Model, ModelOptions, ModelRequest, ModelSettings, ModelTurn, Sampling } from '@sluice/core';
import {
  decodeStream,
  type DecodedTurn,
  type EncodeOptions,
  editRequest,
  encodeRequest,
  type NativeSearch,
  nativeSearchOf,
  type TurnPart,
  withBeta,
  type WireName,
  type WireRequest,
} from '@sluice/wires';
import { createFaults, type Faults } from './faults.js';
import { beginningOf, type ProviderRequest, type ProviderResponse, send } from './http.js';
import type { ProxySettings } from './proxy-settings.js';
import { withArgumentsAsObjects, wireRequestOf } from './prompt.js';
import { originOf } from './provider-data.js';
import { hiding } from './refusal.js';
import { turnOf } from './turn.js';

/** One provider's address and wire, and what is particular about it. */
export interface ProviderSetup {
  readonly wire: WireName;
  readonly settings: ModelSettings;
  /** The provider's model id. */
  readonly name: string;
  readonly url: string;
  /** What the provider is shown and must not be repeated of. */
  readonly secrets: readonly string[];
  /** What is sent beside the body; a signature is over the body. */
  headers(body: string): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  readonly options?: EncodeOptions;
  /** The proxy of this machine's network, where there is one. */
  readonly proxy: ProxySettings;
  /** Whether its API has no way of saying that none of the tools it is sent may be called: then it is sent none. */
  readonly lacksNone?: boolean;
  /**
   * Whether servers of others speak this wire too: some of them read past arguments as JSON, and refuse a request in
   * which they are none.
   */
  readonly hasImitators?: boolean;
}

/** What the settings ask of a wire beside what every request has. */
function asked({ seed, reasoningEffort, thinkingTokens }: ModelSettings): EncodeOptions {
  return {
    ...(seed === undefined ? {} : { seed }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(thinkingTokens === undefined ? {} : { thinkingTokens }),
  };
}

/** Schemas and wishes that are remembered for a model as refused. */
const mostRefused = 200;

/** What such a server says of arguments that it cannot read. */
const statusesOfUnreadable: readonly number[] = [400, 422, 500];

/**
 * The Model port over a provider's wire: one streamed turn a request, nothing run. Faults as the port promises them
 * (core, ports/model.ts).
 */
export function createProviderModel(setup: ProviderSetup): Model {
  const name = `${setup.settings.provider}/${setup.name}`;
  const origin = originOf(setup.wire, setup.settings, setup.name);

  /** What a provider says of a schema that it does not take. */
  const refusals = setup.hasImitators === true ? statusesOfUnreadable : [400, 422];
  /** Schemas for answers and wishes for sampling that this model refuses, as JSON text. */
  const refused = new Set<string>();
  const isRefused = (what: JsonObject | Sampling | undefined): boolean =>
    what !== undefined && refused.has(JSON.stringify(what));
  const remember = (what: JsonObject | Sampling): void => {
    if (refused.size >= mostRefused) refused.clear();
    refused.add(JSON.stringify(what));
  };

  function encoded(request: WireRequest, settings: ModelSettings, form: JsonObject | undefined): string {
    const held = form === undefined ? {} : { answerSchema: form };
    return encodeRequest(setup.wire, request, { ...setup.options, ...asked(settings), ...held }).body;
  }

  async function turn(request: ModelRequest, options: ModelOptions): Promise<ModelTurn> {
    options.signal.throwIfAborted();
    const faults = createFaults(name, { signal: options.signal, tools: request.tools, hide: hiding(setup.secrets) });
    let decoded = await sendTurn(request, [], options, faults);
    for (let again = 0; saysNothing(decoded) && again < mostAgain; again += 1)
      decoded = instead(decoded, await sendTurn(request, [], options, faults));
    for (let pauses = 0; isPaused(decoded) && pauses < mostPauses; pauses += 1)
      decoded = joined(decoded, await sendTurn(request, decoded.parts, options, faults));
    return turnOf(decoded, { history: request.history, origin, faults });
  }

  /** Sends the request, with what the model said of this turn before its provider paused it, and reads what follows. */
  async function sendTurn(
    request: ModelRequest,
    said: readonly TurnPart[],
    options: ModelOptions,
    faults: Faults,
  ): Promise<DecodedTurn> {
    const response = await open(request, said, options).catch((error: unknown) => {
      throw faults.fromRequest(error);
    });
    if (response.status !== 200) throw await refusal(response, faults);
    return read(response, options, faults);
  }

  async function open(
    asked: ModelRequest,
    said: readonly TurnPart[],
    { signal, given: content }: ModelOptions,
  ): Promise<ProviderResponse> {
    const withheld = asked.toolChoice.type === 'none' && setup.lacksNone === true;
    const search = withheld ? null : searchOf(asked);
    const { searched, ...shown } = asked;
    const given = search === null ? shown : asked;
    const requestWith = (settings: ModelSettings): WireRequest => {
      const begun = wireRequestOf(withheld ? { ...given, tools: [] } : given, {
        ...{ name: setup.name, settings, origin, given: content },
      });
      if (said.length === 0) return begun;
      return { ...begun, messages: [...begun.messages, { role: 'assistant', parts: said }] };
    };
    const deferred = new Set(search === null ? [] : searched?.tools.map(({ id }) => id));
    let settings = isRefused(asked.sampling) ? setup.settings : sampledSettings(setup.settings, asked.sampling);
    let form = isRefused(asked.answerSchema) ? undefined : asked.answerSchema;
    const post = (sent: WireRequest): Promise<ProviderResponse> =>
      postWith(sent, settings, { search, deferred, form }, signal);
    const body = (): string => encoded(requestWith(settings), settings, form);
    /** Sends the request once more without what the request asks beside its turn, where that is refused. */
    const without = async (what: JsonObject | Sampling | undefined, leaveOut: () => void): Promise<void> => {
      if (what === undefined || !refusals.includes(response.status)) return;
      const before = body();
      leaveOut();
      if (body() === before) return;
      response.body.destroy();
      response = await post(requestWith(settings));
      if (response.status === 200) remember(what);
    };
    let response = await post(requestWith(settings));
    await without(asked.sampling, () => (settings = setup.settings));
    // The instructions say the schema too, and the answer is checked by it.
    await without(asked.answerSchema, () => (form = undefined));
    if (setup.hasImitators !== true || !statusesOfUnreadable.includes(response.status)) return response;
    const readable = withArgumentsAsObjects(requestWith(settings));
    if (readable === null) return response;
    response.body.destroy();
    return post(readable);
  }

  /**
   * The provider's own search of tools; null where none is asked for, or this model has none: then it is sent the
   * shown tools alone.
   */
  function searchOf({ searched }: ModelRequest): NativeSearch | null {
    if (searched === undefined) return null;
    const { kind, when } = searched.settings;
    const search = nativeSearchOf(setup.wire, setup.name, { kind, isSure: when === 'always' });
    return typeof search === 'string' ? null : search;
  }

  async function postWith(
    request: WireRequest,
    settings: ModelSettings,
    {
      search,
      deferred,
      form,
    }: {
      readonly search: NativeSearch | null;
      readonly deferred: ReadonlySet<string>;
      readonly form: JsonObject | undefined;
    },
    signal: AbortSignal,
  ): Promise<ProviderResponse> {
    const plain = encoded(request, settings, form);
    const body = search === null ? plain : withSearch(plain, search, deferred);
    const beta = search?.betaHeader ?? null;
    const headers = { ...setup.settings.headers, ...(await setup.headers(body)) };
    const sent: ProviderRequest = {
      url: setup.url,
      headers: beta === null ? headers : { ...headers, 'anthropic-beta': beta },
      body,
    };
    return send(sent, signal, setup.proxy);
  }

  function withSearch(body: string, search: NativeSearch, deferred: ReadonlySet<string>): string {
    const edited = editRequest(setup.wire, body, {
      keepTool: () => true,
      deferTool: (name) => deferred.has(name),
      addRawTools: [search.tool],
      moveCacheMarks: true,
    });
    return search.betaInBody === null ? edited : withBeta(edited, search.betaInBody);
  }

  async function read({ body }: ProviderResponse, options: ModelOptions, faults: Faults): Promise<DecodedTurn> {
    const decoder = decodeStream(setup.wire, { onText: guarded(options.onText) });
    try {
      for await (const piece of body) {
        decoder.push(piece);
        options.signal.throwIfAborted();
      }
      return decoder.end();
    } catch (error) {
      if (error instanceof Thrown) throw error.what;
      throw faults.fromStream(error);
    } finally {
      body.destroy();
    }
  }

  return { name, turn };
}

/** How often a turn is sent back that its provider pauses. */
const mostPauses = 16;

/**
 * How often a turn that says nothing is asked for again at once. Gemini gives such turns, and says something the next
 * time.
 */
const mostAgain = 2;

/**
 * A turn without a text or a call, which stopped as if there were one, or because of a call that the provider did not
 * expect.
 */
function saysNothing({ finish, finishAs, parts }: DecodedTurn): boolean {
  const isUnexpected = finish === 'stop' || finishAs === 'UNEXPECTED_TOOL_CALL';
  return (
    isUnexpected && parts.every((part) => part.type !== 'call' && (part.type !== 'text' || part.text.trim() === ''))
  );
}

/** The turn that came in place of one that said nothing, and cost tokens as well. */
function instead(before: DecodedTurn, then: DecodedTurn): DecodedTurn {
  return { ...joined(before, then), parts: then.parts };
}

/** Whether the turn can be sent back to go on. One with calls of ours cannot: they have no results yet. */
function isPaused({ finish, parts }: DecodedTurn): boolean {
  return finish === 'paused' && parts.length > 0 && parts.every(({ type }) => type !== 'call');
}

/** A turn that was paused and what followed, as one. Each request read all that was said before. */
function joined(before: DecodedTurn, then: DecodedTurn): DecodedTurn {
  const reasoningTokens = before.usage.reasoningTokens + then.usage.reasoningTokens;
  return {
    ...then,
    parts: [...before.parts, ...then.parts],
    usage: { ...tokenSum(before.usage, then.usage), reasoningTokens },
    notes: [...before.notes, ...then.notes],
  };
}

/** What the receiver of the text threw, which is no matter of reading. */
class Thrown extends Error {
  constructor(readonly what: unknown) {
    super();
  }
}

function guarded(onText: ModelOptions['onText']): ((piece: string) => void) | undefined {
  if (onText === undefined) return undefined;
  return (piece) => {
    try {
      onText(piece);
    } catch (error) {
      throw new Thrown(error);
    }
  };
}

async function refusal(response: ProviderResponse, faults: Faults): Promise<Error> {
  const header = response.headers['x-amzn-errortype'];
  const type = typeof header === 'string' ? (header.split(':')[0] ?? '') : '';
  return faults.fromStatus(response.status, await beginningOf(response), type);
}
