import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type {
  CompleteRequest,
  CompleteResult,
  GetPromptResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { AgentStep, WatchedResource } from '@sluice/contracts';
import type { ConfiguredTool, JsonObject, JsonValue, PassedOnKind } from '@sluice/core';
import {
  categoryOf,
  eachOnce,
  hasResource,
  listedPrompt,
  passedOnIn,
  passedOnTo,
  promptArguments,
  promptIn,
  saidIn,
} from '@sluice/mcp';
import { askingOf } from './asking.js';
import type { Caller } from './callers.js';
import type { Connection } from './connection.js';
import type { ServerParts } from './server-parts.js';
import { wholeAnswer } from './whole-answer.js';

const noSubscriptions = 'The server of this resource lets no client subscribe to it.';
const noneOfTheirOwn =
  'The server of this resource is asked with each caller’s own credential, and such a resource cannot be subscribed to.';

/** How long a completion is waited for, in milliseconds: a person is typing. */
const completionMs = 5_000;

const noForms = { without: 'Forms are shown for calls of tools alone.', of: (): null => null };

/**
 * What upstream servers have beside tools, as far as the caller may have it. Every question to them is a call on the
 * log, as one of a tool is.
 */
export class PassedOn {
  constructor(
    private readonly parts: ServerParts,
    private readonly connection: Connection,
  ) {}

  async resources(context: ServerContext): Promise<readonly Resource[]> {
    const said = await this.ofAll('resource', context);
    return eachOnce(
      said.map((one) => one['resources'] as readonly JsonValue[]),
      'uri',
    ) as unknown as Resource[];
  }

  async templates(context: ServerContext): Promise<readonly ResourceTemplateType[]> {
    const said = await this.ofAll('resource', context);
    return eachOnce(
      said.map((one) => one['templates'] as readonly JsonValue[]),
      'uriTemplate',
    ) as unknown as ResourceTemplateType[];
  }

  /** Null for an address of no entry that the caller may have. */
  async read(uri: string, context: ServerContext): Promise<JsonObject | null> {
    const entry = (await this.entries('resource', context)).find((one) => hasResource(one, uri));
    return entry === undefined ? null : this.asked(entry, { uri }, context);
  }

  /**
   * Subscribes to the resource at its server, which says of changes until it is watched no more. Null for an address of
   * no entry that the caller may have.
   */
  async subscribe(uri: string, caller: Caller, signal: AbortSignal): Promise<WatchedResource | null> {
    const entry = (await this.entriesOf('resource', caller)).find((one) => hasResource(one, uri));
    if (entry === undefined || entry.mcp === null) return null;
    if (entry.mcp.subscribes !== true) throw unknown(entry.connection === undefined ? noSubscriptions : noneOfTheirOwn);
    await this.askedBy(caller, entry, { uri, subscribe: true }, signal);
    return { server: entry.mcp.server, uri };
  }

  async prompts(context: ServerContext): Promise<readonly Prompt[]> {
    const entries = await this.entries('prompt', context);
    const all = await Promise.all(
      entries.map(async (entry) => {
        const said = await this.asked(entry, {}, context).catch(() => null);
        return ((said?.['prompts'] ?? []) as readonly JsonObject[]).map((prompt) => listedPrompt(entry, prompt));
      }),
    );
    return eachOnce(all, 'name') as unknown as Prompt[];
  }

  /** Null for a name of no entry that the caller may have. */
  async prompt(name: string, args: JsonObject, context: ServerContext): Promise<JsonObject | null> {
    const found = await this.promptOf(name, context);
    return found && this.asked(found.entry, promptArguments(found.entry, found.name, { arguments: args }), context);
  }

  /**
   * The values that the argument of a prompt or template may have, as its server says. Null for one that the caller
   * may not have; none where no answer comes soon.
   */
  async complete(
    ref: CompleteRequest['params']['ref'],
    complete: JsonObject,
    context: ServerContext,
  ): Promise<CompleteResult['completion'] | null> {
    const wanted =
      ref.type === 'ref/prompt' ? await this.promptOf(ref.name, context) : await this.templateOf(ref.uri, context);
    if (wanted === null) return null;
    const { entry, name } = wanted;
    const args = ref.type === 'ref/prompt' ? promptArguments(entry, name, { complete }) : { uri: name, complete };
    const signal = AbortSignal.any([context.mcpReq.signal, AbortSignal.timeout(completionMs)]);
    const said = await this.asked(entry, args, context, signal).catch(() => null);
    return { values: [], ...said };
  }

  private async promptOf(
    name: string,
    context: ServerContext,
  ): Promise<{ readonly entry: ConfiguredTool; readonly name: string } | null> {
    for (const entry of await this.entries('prompt', context)) {
      const own = promptIn(entry, name);
      if (own !== null) return { entry, name: own };
    }
    return null;
  }

  private async templateOf(
    uri: string,
    context: ServerContext,
  ): Promise<{ readonly entry: ConfiguredTool; readonly name: string } | null> {
    const entry = (await this.entries('resource', context)).find((one) => hasResource(one, uri));
    return entry === undefined ? null : { entry, name: uri };
  }

  /** What each entry’s server says; one that does not answer hides no other. */
  private async ofAll(kind: PassedOnKind, context: ServerContext): Promise<readonly JsonObject[]> {
    const entries = await this.entries(kind, context);
    const said = await Promise.all(entries.map((entry) => this.asked(entry, {}, context).catch(() => null)));
    return said.filter((one) => one !== null);
  }

  private entries(kind: PassedOnKind, context: ServerContext): Promise<readonly ConfiguredTool[]> {
    return this.entriesOf(kind, this.connection.callerOf(context));
  }

  private async entriesOf(kind: PassedOnKind, caller: Caller): Promise<readonly ConfiguredTool[]> {
    const asking = await askingOf(caller, this.connection.session, this.parts);
    return passedOnTo(kind, asking, this.parts.runtime.configurations.current().evaluator);
  }

  private asked(
    tool: ConfiguredTool,
    args: JsonObject,
    context: ServerContext,
    signal = context.mcpReq.signal,
  ): Promise<JsonObject> {
    return this.askedBy(this.connection.callerOf(context), tool, args, signal);
  }

  /** Throws an error of the protocol where there is no answer: these methods have no result that says so. */
  private async askedBy(
    caller: Caller,
    tool: ConfiguredTool,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { session } = this.connection;
    const { limits, states, calls } = this.parts;
    const limited = await limits.admit(caller.principal);
    if ('refused' in limited) throw failed(limited.refused);
    try {
      const state = await states.stateOf(session, caller.principal);
      const wanted = { tool, args, session, state, key: null, headers: {}, answer: () => null, isResumed: false };
      const { requestId, outcome } = await calls.make(caller, { ...wanted, forms: noForms }, signal, () => undefined);
      if (outcome.kind !== 'step') throw failed('There was no answer. Try again.');
      const { step } = outcome;
      if (step.outcome !== 'ok') throw failed(sentenceOf(step));
      const owner = { tenantId: caller.principal.tenantId, runId: requestId };
      const whole = await wholeAnswer(step, owner, this.parts.runtime.content);
      if (whole.kind === 'here') return passedOnIn(whole.answer);
      if (whole.kind === 'gone') throw failed(`What the server gave cannot be read. ${whole.why}`);
      const said = saidIn(whole.kind === 'value' ? whole.text : step.observation);
      if (said === null || lacksBytes(said)) throw failed('What the server gave could not be kept. Try again.');
      return said;
    } finally {
      limited.done();
    }
  }
}

/** Whether the value says how many bytes there were, in place of them: the content store did not take these. */
function lacksBytes({ contents, messages }: JsonObject): boolean {
  const inMessages = ((messages ?? []) as readonly JsonObject[]).flatMap(({ content }) => {
    const block = content as JsonObject;
    return [block, (block['resource'] ?? {}) as JsonObject];
  });
  return [...((contents ?? []) as readonly JsonObject[]), ...inMessages].some(({ bytes }) => typeof bytes === 'number');
}

function sentenceOf({ outcome, reason, observation }: AgentStep): string {
  return categoryOf(outcome, reason) === 'permission' ? 'Access denied.' : observation;
}

function failed(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, message);
}

/** Serves the prompts that are passed on. */
export function servePrompts(server: Server, passedOn: PassedOn): void {
  server.setRequestHandler('prompts/list', async (_request, context) => ({
    prompts: [...(await passedOn.prompts(context))],
  }));
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    const found = await passedOn.prompt(params.name, params.arguments ?? {}, context);
    if (found === null) throw unknown('There is no prompt of this name. List the prompts.');
    return found as unknown as GetPromptResult;
  });
}

function unknown(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
