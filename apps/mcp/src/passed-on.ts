import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type {
  GetPromptResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { AgentStep } from '@sluice/contracts';
import type { ConfiguredTool, JsonObject, JsonValue, PassedOnKind } from '@sluice/core';
import { categoryOf, eachOnce, hasResource, passedOnTo, saidBy } from '@sluice/mcp';
import type { Connection } from './connection.js';
import { askingOf } from './server-parts.js';
import type { ServerParts } from './server-parts.js';

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

  /** Prompts have the keys of their entries: those of servers may meet. */
  async prompts(context: ServerContext): Promise<readonly Prompt[]> {
    const entries = await this.entries('prompt', context);
    const all = await Promise.all(
      entries.map(async (entry) => {
        const said = await this.asked(entry, {}, context).catch(() => null);
        const [prompt] = (said?.['prompts'] ?? []) as readonly JsonObject[];
        return prompt === undefined ? [] : [{ ...prompt, name: entry.key } as unknown as Prompt];
      }),
    );
    return all.flat();
  }

  /** Null for a name of no entry that the caller may have. */
  async prompt(name: string, args: JsonObject, context: ServerContext): Promise<JsonObject | null> {
    const entry = (await this.entries('prompt', context)).find(({ key }) => key === name);
    return entry === undefined ? null : this.asked(entry, { arguments: args }, context);
  }

  /** What each entry’s server says; one that does not answer hides no other. */
  private async ofAll(kind: PassedOnKind, context: ServerContext): Promise<readonly JsonObject[]> {
    const entries = await this.entries(kind, context);
    const said = await Promise.all(entries.map((entry) => this.asked(entry, {}, context).catch(() => null)));
    return said.filter((one) => one !== null);
  }

  private async entries(kind: PassedOnKind, context: ServerContext): Promise<readonly ConfiguredTool[]> {
    const asking = await askingOf(this.connection.callerOf(context), this.connection.session, this.parts);
    return passedOnTo(kind, asking, this.parts.runtime.configurations.current().evaluator);
  }

  /** Throws an error of the protocol where there is no answer: these methods have no result that says so. */
  private async asked(tool: ConfiguredTool, args: JsonObject, context: ServerContext): Promise<JsonObject> {
    const caller = this.connection.callerOf(context);
    const { session } = this.connection;
    const { limits, states, calls } = this.parts;
    const limited = await limits.admit(caller.principal);
    if ('refused' in limited) throw failed(limited.refused);
    try {
      const state = await states.stateOf(session, caller.principal);
      const wanted = { tool, args, session, state, key: null, headers: {}, answer: () => null };
      const { outcome } = await calls.make(caller, wanted, context.mcpReq.signal, () => undefined);
      if (outcome.kind !== 'step') throw failed('There was no answer. Try again.');
      const said = saidBy(outcome.step);
      if (said === null) throw failed(sentenceOf(outcome.step));
      return said;
    } finally {
      limited.done();
    }
  }
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
