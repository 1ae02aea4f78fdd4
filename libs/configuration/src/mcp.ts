import {
  contentKinds,
  modelName,
  modelsOf,
  openApiToolType,
  passedOnKinds,
  quote,
  sentenceList,
  suggestion,
  textModes,
  toolEffects,
} from '@sluice/core';
import type {
  Configuration,
  ConnectionSettings,
  ContentKind,
  McpRoot,
  McpSampling,
  McpServer,
  PassedOnKind,
  Problem,
  Redaction,
  ToolEffect,
} from '@sluice/core';
import type { ToolEntry } from './entries.js';
import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import { Section } from './section.js';
import { type NamingStrategy, namingStrategies } from './served-names.js';
import { connectionNamed, readVariable } from './connections.js';
import { namesVariable, notAVariable } from './variables.js';

/** Stands in the id of an mcp-tool that is not bound yet; no server may have this name. */
export const unboundServer = 'unbound';
const serverSeconds = { byDefault: 10, most: 600 } as const;
const cacheSeconds = { byDefault: 60, most: 86_400 } as const;
const serverMegabytes = { byDefault: 10, most: 256 } as const;
const serverTools = { byDefault: 1_000, most: 20_000 } as const;
const samplingCalls = { byDefault: 3, most: 20 } as const;
const samplingTokens = { byDefault: 4_000, most: 1_000_000 } as const;
const serverCallsPerMinute = { byDefault: 1, most: 1_000_000 } as const;

/**
 * One entry of `mcp.tools`, or of `openapi.tools`: the server's tool behind an `mcp_tool_id`, and what its allowing
 * includes.
 */
export interface McpBinding {
  readonly id: string;
  readonly path: string;
  readonly server: string;
  readonly tool: string;
  /** Null for a tool. */
  readonly kind: PassedOnKind | null;
  /** Null where the method of the operation says it. */
  readonly effect: ToolEffect | null;
  readonly idempotent: boolean;
  readonly redaction: Redaction | null;
  /** Kinds of blocks that leave the tool; null where the redaction says it. */
  readonly content: readonly ContentKind[] | null;
  /** The tool of the same server that says whether a call took effect. */
  readonly reconcile: string | null;
  /** How long a result may answer equal calls, in milliseconds; null where each call is made. */
  readonly cacheMs: number | null;
}

export interface McpSettings {
  readonly servers: readonly McpServer[];
  readonly bindings: ReadonlyMap<string, McpBinding>;
  /** Ids written under `mcp.tools`, usable or not. */
  readonly bindingIds: readonly string[];
  /** The same of `openapi.tools`. */
  readonly openApi: Pick<McpSettings, 'bindings' | 'bindingIds'>;
  readonly naming: NamingStrategy;
}

/** The binding of an entry of `tool`; null where none is written. */
export function bindingOf(
  { key, type, mcpToolId }: Pick<ToolEntry, 'key' | 'type' | 'mcpToolId'>,
  mcp: McpSettings,
): McpBinding | null {
  return (type === openApiToolType ? mcp.openApi.bindings.get(key) : mcp.bindings.get(mcpToolId ?? key)) ?? null;
}

export function readMcp(
  section: Section,
  connections: readonly ConnectionSettings[],
  openApi: OpenApiSection = noOpenApi,
): McpSettings {
  section.closed(configurationKeys.mcp);
  const servers = section.section('servers');
  const tools = section.section('tools');
  const bindings = readBindings(tools, servers, readBinding);
  return {
    servers: [
      ...servers.keys().map((id) => readServer(id, servers.section(id), connections)),
      ...openApi.servers.filter(({ id }) => isFree(id, servers)),
    ],
    openApi,
    bindings,
    bindingIds: tools.keys(),
    naming: section.choice('naming', namingStrategies) ?? 'server',
  };
}

/** What `openapi` holds (openapi.ts). */
export type OpenApiSection = McpSettings['openApi'] & { readonly servers: readonly McpServer[] };
const noOpenApi: OpenApiSection = { servers: [], bindings: new Map(), bindingIds: [] };

/** Servers are called by name, so that one name is that of one server. */
function isFree(id: string, servers: Section): boolean {
  if (!servers.keys().includes(id)) return true;
  servers.problem(servers.at(id), 'the name of a server under `openapi.servers`', 'another name for one of them');
  return false;
}

function readServer(id: string, section: Section, connections: readonly ConnectionSettings[]): McpServer {
  section.closed(configurationKeys['mcp.servers.<server>']);
  checkServerName(id, section);
  const command = section.text('command', 'the program that starts the server');
  const url = section.address('url');
  if (section.has('command') === section.has('url')) {
    const found = section.has('url') ? 'both `command` and `url`' : 'neither `command` nor `url`';
    section.problem(section.path, found, '`command` for a server to start, or `url` for one that runs');
  }
  const args = readArguments(section);
  const env = readVariables(section);
  if (section.has('url') && !section.has('command')) {
    for (const key of ['args', 'env'] as const) {
      if (section.has(key))
        section.problem(section.at(key), 'a setting for `command`', 'it beside a `command`, or leave it out');
    }
  }
  const startMs = section.wholeNumber('timeout_seconds', serverSeconds) * 1_000;
  const limit = section.has('calls_per_minute')
    ? { callsPerMinute: section.wholeNumber('calls_per_minute', serverCallsPerMinute) }
    : {};
  const size = section.has('message_megabytes')
    ? { messageBytes: section.wholeNumber('message_megabytes', serverMegabytes) * 1_048_576 }
    : {};
  const tools = section.has('max_tools') ? { mostTools: section.wholeNumber('max_tools', serverTools) } : {};
  const descriptions = section.choice('descriptions', textModes);
  const texts = descriptions === null ? {} : { descriptions };
  const elicitation = section.choice('elicitation', ['form', 'none'] as const);
  const sampling = section.has('sampling') ? { sampling: readSampling(section.section('sampling')) } : {};
  const roots = readRoots(section);
  return {
    id,
    command,
    args,
    env,
    url,
    startMs,
    ...size,
    ...tools,
    ...texts,
    ...limit,
    ...(elicitation === 'none' ? { elicitation } : {}),
    ...sampling,
    ...(roots.length === 0 ? {} : { roots }),
    ...readCredential(section, connections),
  };
}

/** Whether the list `model` has the model is checked where both are known. */
function readSampling(section: Section): McpSampling {
  section.closed(configurationKeys['mcp.servers.<server>.sampling']);
  return {
    model: section.text('model', 'a model of the list `model`, as `provider/name`'),
    calls: section.wholeNumber('calls', samplingCalls),
    tokens: section.wholeNumber('tokens', samplingTokens),
  };
}

/** Each model that answers a server is one of the list. */
export function checkSampling(
  servers: readonly McpServer[],
  models: Pick<Configuration, 'model' | 'fallbacks'>,
  problems: Problem[],
): void {
  const known = modelsOf(models).map(modelName);
  for (const { id, sampling } of servers) {
    if (sampling === undefined || sampling.model === null || known.includes(sampling.model)) continue;
    const found = `the model ${quote(sampling.model)}, which is not in the list \`model\``;
    problems.push({ path: `mcp.servers.${id}.sampling.model`, found, write: suggestion(sampling.model, known) });
  }
}

function readRoots(section: Section): readonly McpRoot[] {
  const items = section.items('roots', 'a list of roots, each with a `uri`') ?? [];
  return items.flatMap((item, place) => {
    const root = new Section(item, section.itemAt('roots', place), section.problems);
    if (!root.usable) return [];
    root.closed(configurationKeys['mcp.servers.<server>.roots[]']);
    const write = 'an address such as `file:///srv/docs`';
    const uri = root.text('uri', write);
    const name = root.text('name', 'a name for people');
    if (uri === null && !root.has('uri')) root.problem(root.at('uri'), 'nothing', write);
    if (uri !== null && !/^file:\/\/\S*$/.test(uri)) root.refuse('uri', write);
    return uri === null ? [] : [{ uri, ...(name === null ? {} : { name }) }];
  });
}

export function checkServerName(id: string, section: Section): void {
  if (/^[A-Za-z0-9_-]+$/.test(id) && !id.includes('__') && id !== unboundServer) return;
  const write = 'a name of letters, digits, `_` and `-`, without `__`, other than `unbound`';
  section.problem(section.path, `the server name ${quote(id)}`, write);
}

/** What the server is to be shown, and in which variable if it is one to be started. */
function readCredential(
  section: Section,
  connections: readonly ConnectionSettings[],
): Pick<McpServer, 'connection' | 'connectionEnv'> {
  const connection = connectionNamed(section, connections);
  const write = 'the name of the environment variable in which the server finds its credential';
  const connectionEnv = readVariable(section, 'connection_env', write);
  if (section.has('connection') && section.has('command') && !section.has('connection_env'))
    section.problem(section.at('connection_env'), 'nothing', write);
  if (section.has('connection_env') && (!section.has('connection') || !section.has('command')))
    section.problem(section.at('connection_env'), 'a variable for nothing', '`command` and `connection` beside it');
  return {
    ...(connection === null ? {} : { connection }),
    ...(connectionEnv === null ? {} : { connectionEnv }),
  };
}

/** Unlike names, arguments may repeat and may be empty. */
function readArguments(section: Section): readonly string[] {
  const items = section.items('args', 'a list of texts') ?? [];
  items.forEach((item, place) => {
    if (typeof item === 'string') return;
    section.problem(section.itemAt('args', place), describe(item), 'a text; put a number in quotes');
  });
  return items.filter((item) => typeof item === 'string');
}

/** Names only: a value written here is refused and not repeated. */
function readVariables(section: Section): readonly string[] {
  const names = new Set<string>();
  const items = section.items('env', 'a list of names of environment variables, without values') ?? [];
  items.forEach((item, place) => {
    if (typeof item === 'string' && namesVariable(item)) names.add(item);
    else
      section.problem(
        section.itemAt('env', place),
        notAVariable,
        'the name of an environment variable, without its value',
      );
  });
  return [...names];
}

/** The bindings of a section, by the names of its entries; those with mistakes are left out. */
export function readBindings(tools: Section, servers: Section, read: typeof readBinding): Map<string, McpBinding> {
  const all = tools.keys().map((id) => [id, read(id, tools.section(id), servers.keys())] as const);
  return new Map(all.flatMap(([id, binding]) => (binding === null ? [] : [[id, binding]])));
}

function readBinding(id: string, section: Section, servers: readonly string[]): McpBinding | null {
  section.closed(configurationKeys['mcp.tools.<id>']);
  if (!section.has('server'))
    section.problem(section.at('server'), 'nothing', 'the name of a server from `mcp.servers`');
  if (section.has('tools')) refuseTools(section);
  const kind = readKind(section);
  if (kind === null && !section.has('tools') && !section.has('tool'))
    section.problem(section.at('tool'), 'nothing', 'the tool’s name on that server');
  const server = section.text('server', 'the name of a server from `mcp.servers`');
  if (server !== null && !servers.includes(server)) {
    section.unknown(section.at('server'), 'server', server, suggestion(server, servers));
  }
  const tool = kind === null ? section.text('tool', 'the tool’s name on that server') : section.text(kind, texts[kind]);
  const effect = section.choice('effect', toolEffects) ?? (kind === null ? 'external_side_effect' : 'read_only');
  if (kind !== null && effect !== 'read_only')
    section.problem(section.at('effect'), `an effect of a ${kind}`, '`read_only`, or leave it out');
  const idempotent = section.flag('idempotent') ?? false;
  const redaction = readRedaction(section);
  const content = readContentKinds(section, kind, redaction);
  const reconcile = section.text(
    'reconcile',
    'the name of the tool on that server that says whether a call took effect',
  );
  if (reconcile !== null && effect === 'read_only')
    section.problem(
      section.at('reconcile'),
      'a setting for tools that change something',
      'it for such a tool, or leave it out',
    );
  const cacheMs = section.has('cache_seconds') ? readCache(section, effect, idempotent) : null;
  if (server === null || tool === null) return null;
  return { id, path: section.path, server, tool, kind, effect, idempotent, redaction, content, reconcile, cacheMs };
}

const texts = {
  resource: 'the address of a resource on that server, or a pattern such as `file:///docs/*`',
  prompt: 'the prompt’s name on that server, or a pattern such as `review_*`',
} as const;

/** What the entry passes on; null for a tool. */
function readKind(section: Section): PassedOnKind | null {
  const [kind, ...others] = passedOnKinds.filter((one) => section.has(one));
  if (kind === undefined) return null;
  for (const other of [...others, ...(['tool', 'tools'] as const).filter((one) => section.has(one))])
    section.problem(section.at(other), `both \`${kind}\` and \`${other}\``, 'one of them');
  return kind;
}

/** An old result may stand for a new one only where the tool changes nothing and the operator says that it may. */
export function readCache(section: Section, effect: ToolEffect | null, idempotent: boolean): number {
  if (effect !== 'read_only' || !idempotent)
    section.problem(
      section.at('cache_seconds'),
      'a setting for tools that change nothing',
      'it beside `effect: read_only` and `idempotent: true`, or leave it out',
    );
  return section.wholeNumber('cache_seconds', cacheSeconds) * 1_000;
}

/** A list that could be used is written out before; what is left of it is a mistake. */
export function refuseTools(section: Section): void {
  const write = 'a list of the names of tools on that server, or of patterns such as `read_*`';
  const names = section.names('tools', write);
  if (names?.length === 0) section.refuse('tools', write);
  if (section.has('tool')) section.problem(section.at('tools'), 'both `tool` and `tools`', 'one of them');
}

export function readRedaction(section: Section): Redaction | null {
  const value = section.value('redaction');
  if (value === null) return null;
  if (value === 'whole') return { whole: true };
  const write = 'a list of the result’s fields that may leave the tool, or `whole`';
  if (!Array.isArray(value) || value.length === 0) return section.refuse('redaction', write);
  const fields = section.names('redaction', write) ?? [];
  return { fields };
}

/** Texts are let through by the redaction alone where it names fields: a text repeats what was taken out. */
function readContentKinds(
  section: Section,
  kind: PassedOnKind | null,
  redaction: Redaction | null,
): readonly ContentKind[] | null {
  if (!section.has('content')) return null;
  if (kind !== null) {
    section.problem(section.at('content'), `a setting of tools beside a ${kind}`, 'it for a tool, or leave it out');
    return null;
  }
  const write = `a list of kinds of blocks that may leave the tool: ${sentenceList(contentKinds)}`;
  const items = section.items('content', write);
  if (items === null) return null;
  if (items.length === 0) return section.refuse('content', `${write}; with none of them, leave the tool out`);
  const kinds = new Set<ContentKind>();
  items.forEach((item, place) => {
    const known = contentKinds.find((one) => one === item);
    if (known === undefined)
      section.problem(section.itemAt('content', place), describe(item), suggestion(String(item), contentKinds));
    else kinds.add(known);
  });
  if (kinds.has('text') && redaction !== null && 'fields' in redaction)
    section.problem(
      section.at('content'),
      '`text` beside a redaction that names fields',
      'the other kinds alone; texts would repeat what the redaction takes out',
    );
  return contentKinds.filter((one) => kinds.has(one));
}
