import { canonicalJson, openApiToolType, textModeByDefault, nearest, pinOf, quote, wildcard } from '@sluice/core';
import type {
  TextMode,
  Digest,
  HttpOperation,
  JsonObject,
  McpOffer,
  McpServer,
  McpToolRef,
  OfferedTool,
  PassedOnKind,
  ToolEffect,
  ToolIcon,
  ToolSpec,
  ToolType,
} from '@sluice/core';
import type { IdentifiedTool } from './identities.js';
import { lookOver, convertOffer } from '@sluice/schemas';
import type { McpBinding } from './mcp.js';

/** What a tool takes and gives, or the sentence that says why that is unknown. */
type Specification =
  { readonly spec: ToolSpec; readonly unavailable: null } | { readonly spec: null; readonly unavailable: string };

/** A tool of a built-in type: schema, effect and redaction are the type's, the text is the entry's. */
export function specifyBuiltIn(tool: IdentifiedTool, type: ToolType, digest: Digest): Specification {
  const spec = {
    name: tool.id,
    description: tool.entry.description ?? type.description,
    inputSchema: type.inputSchema,
    redaction: type.redaction,
    effect: type.effect,
    schemaHash: hash(type.inputSchema, digest),
  };
  return { spec, unavailable: null };
}

/** What an mcp-tool was offered as, beside its specification. */
export interface Allowed {
  readonly specification: Specification;
  readonly pin: string | null;
  readonly outputSchema: JsonObject | null;
  /** The tool that says whether a call took effect, and its pin; null where none is named. */
  readonly reconcile: McpToolRef['reconcile'] | null;
  /** Where its input schema is simpler than the server's, as JSON pointers. */
  readonly simplified: readonly string[];
  /** JSON pointers into the schema to what may be null; absent for none. */
  readonly nulls?: readonly string[];
  /** What its server allows and the offered schema does not, a phrase each. */
  readonly narrowed: readonly string[];
  /** What there is to say of its server’s texts, a sentence each; absent for nothing. */
  readonly texts?: readonly string[];
  /** What its server shows people; absent where it gives none. */
  readonly title?: string;
  readonly icons?: readonly ToolIcon[];
  /** Its server lets clients subscribe to the resources; absent where it does not. */
  readonly subscribes?: true;
  /** The request that a call is; absent for what is no operation of an OpenAPI document. */
  readonly operation?: HttpOperation;
}

/** Pins of tools that were allowed before, by `pinKeyOf`. What is offered otherwise now is held back. */
export type Pins = ReadonlyMap<string, string>;

/** The key of one server's tool in Pins. */
export function pinKeyOf({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return JSON.stringify([server, tool]);
}

/**
 * An mcp-tool: the schema is the server's, in the subset that models take; effect and redaction are those of
 * `mcp.tools`.
 */
export function specifyMcp(
  tool: IdentifiedTool,
  given: {
    readonly offers: readonly McpOffer[];
    readonly servers: readonly McpServer[];
    readonly pins?: Pins;
    readonly digest: Digest;
    /** Whether the tool, or its server, has a connection. */
    readonly isBound: boolean;
  },
): Allowed {
  const { binding } = tool;
  if (binding === null) {
    const section = tool.entry.type === openApiToolType ? 'openapi' : 'mcp';
    const name = quote(tool.entry.mcpToolId ?? tool.entry.key);
    return withheld(`No entry ${name} under ${section}.tools names its server and tool.`);
  }
  if (tool.unusable !== null)
    return withheld(`Its id ${tool.unusable}; give it a shorter or a different name on the server.`);
  if (binding.kind !== null) return specifyPassedOn(tool, binding, binding.kind, given);
  const offered = findOffer(binding, given.offers);
  if (typeof offered === 'string') return withheld(offered);
  if (offered.headerProblems !== undefined) return withheld(wrongHeaders(binding, offered.headerProblems));
  const mode = given.servers.find(({ id }) => id === binding.server)?.descriptions ?? textModeByDefault;
  const { tool: looked, sentences: texts, heldBack } = lookOver(offered, mode, tool.entry.description !== null);
  if (heldBack !== null) return withheld(suspect(binding, offered, heldBack, mode));
  if (offered.problems !== undefined) return withheld(notCallable(binding, offered));
  const taken = convertOffer(looked, given.isBound);
  if ('problems' in taken) return withheld(sentences(taken.problems));
  if (binding.redaction === null)
    return withheld(`${binding.path} gives no redaction, so nothing of its results may leave it.`);
  const asked = binding.reconcile === null ? null : findOffer({ ...binding, tool: binding.reconcile }, given.offers);
  if (typeof asked === 'string') return withheld(`${binding.path}.reconcile: ${asked}`);
  const pin = pinOf(offered, given.digest);
  const allowed = given.pins?.get(pinKeyOf(binding));
  if (allowed !== undefined && allowed !== pin) return withheld(changed(binding));
  const { inputSchema, simplified, narrowed, nulls, outputSchema } = taken;
  const spec = {
    name: tool.id,
    description: tool.entry.description ?? looked.description,
    inputSchema,
    redaction: binding.redaction,
    effect: binding.effect ?? effectOf(offered),
    schemaHash: hash(inputSchema, given.digest),
  };
  const reconcile = asked === null ? null : { tool: asked.name, pin: pinOf(asked, given.digest) };
  const { title, icons } = looked;
  return {
    ...{ specification: { spec, unavailable: null }, pin, outputSchema, reconcile, simplified, narrowed },
    ...(nulls.length === 0 ? {} : { nulls }),
    ...(texts.length === 0 ? {} : { texts }),
    ...(title === undefined ? {} : { title }),
    ...(icons === undefined ? {} : { icons }),
    ...(offered.operation === undefined ? {} : { operation: offered.operation }),
  };
}

/** By the method of the request, as HTTP has it. */
function effectOf({ operation }: OfferedTool): ToolEffect {
  return operation?.method === 'GET' || operation?.method === 'HEAD' ? 'read_only' : 'external_side_effect';
}

function notCallable({ server, tool }: McpBinding, { problems = [] }: OfferedTool): string {
  return `The operation ${quote(tool)} of the server ${quote(server)} cannot be called. ${sentences(problems)}`;
}

/** What may be written for an argument is asked for in the form of `completion/complete`, without its `ref`. */
const complete: JsonObject = {
  type: 'object',
  description: 'An argument that is being written: its possible values are listed.',
};

const subscribe: JsonObject = {
  type: 'boolean',
  description: 'Whether to hear when the resource changes, in place of reading it.',
};

function passedOnInput(kind: PassedOnKind, isPattern: boolean, subscribes: boolean): JsonObject {
  const address = { type: 'string', description: 'The address of the resource. Without it they are listed.' };
  const name = { type: 'string', description: 'The name of the prompt. Without it they are listed.' };
  const promptArguments = {
    type: 'object',
    description: `Arguments of the prompt.${isPattern ? '' : ' Without them the reply lists what it takes.'}`,
    additionalProperties: { type: 'string' },
  };
  const properties =
    kind === 'resource' ? { uri: address } : { ...(isPattern ? { name } : {}), arguments: promptArguments };
  const all = { ...properties, complete, ...(subscribes ? { subscribe } : {}) };
  return { type: 'object', properties: all, additionalProperties: false };
}

/**
 * Resources or a prompt: what their server has of them is asked at each call, and nothing of it reaches a model’s
 * list of tools.
 */
function specifyPassedOn(
  { id, entry }: IdentifiedTool,
  { server, tool, redaction, path }: McpBinding,
  kind: PassedOnKind,
  { offers, isBound, digest }: Parameters<typeof specifyMcp>[1],
): Allowed {
  if (redaction === null) return withheld(`${path} gives no redaction, so nothing of its results may leave it.`);
  const isPattern = tool.includes(wildcard);
  const offer = offers.find((one) => one.server === server);
  // Behind a connection each caller has a client of its own at the server, and changes would be heard by that alone.
  const offered = offer !== undefined && 'tools' in offer && offer.subscribes === true;
  const subscribes = offered && kind === 'resource' && !isBound;
  const inputSchema = passedOnInput(kind, isPattern, subscribes);
  const what = kind === 'resource' ? `Resources ${tool}` : isPattern ? `Prompts ${tool}` : `The prompt ${tool}`;
  const description = entry.description ?? `${what} of the MCP server ${server}.`;
  const effect = 'read_only';
  const spec = {
    name: id,
    description,
    inputSchema,
    redaction,
    effect,
    schemaHash: hash(inputSchema, digest),
  } as const;
  const specification = { spec, unavailable: null };
  const nothing = { pin: null, outputSchema: null, reconcile: null, simplified: [], narrowed: [] };
  return { specification, ...nothing, ...(subscribes ? { subscribes } : {}) };
}

function wrongHeaders({ server, tool }: McpBinding, problems: readonly string[]): string {
  return `The server ${quote(server)} asks for arguments of ${quote(tool)} as headers in a way that the protocol does not permit. ${sentences(problems)} Its author has to mend that.`;
}

function suspect({ server, tool }: McpBinding, { operation }: OfferedTool, sentence: string, mode: TextMode): string {
  const section = operation === undefined ? 'mcp' : 'openapi';
  const why =
    mode === 'hold_back'
      ? `${section}.servers.${server}.descriptions is hold_back`
      : 'nothing can be taken out of it there';
  return `The server ${quote(server)} describes ${quote(tool)} with a text that no model is given. ${sentence} It is held back, since ${why}: look at the text (npx sluice ${section} list ${server}), and write descriptions: pass beside the server if it is right.`;
}

function changed({ server, tool }: McpBinding): string {
  return `The server ${quote(server)} changed the description or the schema of ${quote(tool)} since it was allowed, so it is held back: look at what it is now, then compile the configuration again.`;
}

function findOffer(binding: McpBinding, offers: readonly McpOffer[]): OfferedTool | string {
  const offer = offers.find((one) => one.server === binding.server);
  if (offer === undefined) return `The server ${quote(binding.server)} was not asked what it offers.`;
  if ('error' in offer) return `The server ${quote(binding.server)} could not be asked what it offers: ${offer.error}`;
  const [tool, ...others] = offer.tools.filter((one) => one.name === binding.tool);
  if (others.length > 0)
    return `The server ${quote(binding.server)} offers ${String(others.length + 1)} tools named ${quote(binding.tool)}, so it is unclear which is meant.`;
  if (tool !== undefined) return tool;
  const near = nearest(
    binding.tool,
    offer.tools.map((one) => one.name),
  );
  const hint = near === undefined ? '' : ` It offers ${quote(near)}.`;
  return `The server ${quote(binding.server)} offers no tool ${quote(binding.tool)}.${hint}`;
}

/** A server's schema can have a thousand faults: the first ones say enough. */
function sentences(problems: readonly string[]): string {
  const more = problems.length > 5 ? ` And ${String(problems.length - 5)} more.` : '';
  return problems.slice(0, 5).join(' ') + more;
}

/** A tool that is not offered, with the sentence that says why. */
export function withheld(unavailable: string): Allowed {
  const specification = { spec: null, unavailable };
  return { specification, pin: null, outputSchema: null, reconcile: null, simplified: [], narrowed: [] };
}

function hash(schema: JsonObject, digest: Digest): string {
  return digest(canonicalJson(schema));
}
