import {
  defaultAgent,
  firstSentence,
  isServerTool,
  knownAgents,
  mcpToolType,
  openApiToolType,
  quote,
  versionOf,
  wellFormed,
} from '@sluice/core';
import type {
  Configuration,
  ConfiguredTool,
  Digest,
  Finding,
  JsonObject,
  McpOffer,
  McpServer,
  Policy,
  Problem,
  ToolType,
} from '@sluice/core';
import { checkAgents, checkCycles, withAgentEffects } from './agent-tools.js';
import { type Descriptions, findAboutDescriptions, readDescriptions } from './descriptions.js';
import { agentEntries, instructionsOrDefault } from './agents.js';
import { type AgentArguments, readAgentArguments, refuseUnknownArguments } from './bounds-of-tools.js';
import { readAuthorization } from './authorization.js';
import type { AuthorizationFiles } from './authorization-files.js';
import { type ToolEntry, readEntries } from './entries.js';
import { findEverything } from './findings.js';
import { findAboutNetwork } from './network-findings.js';
import { findAboutServers } from './server-findings.js';
import { withMeantSections, withoutConsequences } from './misspelt.js';
import { withRedactions } from './redactions.js';
import { checkHosts } from './connection-hosts.js';
import { checkConnections, readConnections } from './connections.js';
import { readFallbacks } from './fallbacks.js';
import { withFittingExamples } from './examples.js';
import { readGroups } from './group-map.js';
import { findAboutRoles } from './role-findings.js';
import { readIdentity } from './identity.js';
import { findAboutHooks, readHooks } from './hooks.js';
import { type IdentifiedTool, identify } from './identities.js';
import { configurationKeys } from './keys.js';
import { readDocuments } from './documents.js';
import { findAboutGraph, readGraph, withQueryWrites } from './graph.js';
import { readKnowledge } from './knowledge.js';
import { readLimits } from './limits.js';
import { writeOutManyTools } from './many-tools.js';
import { checkSampling, type McpSettings, readMcp } from './mcp.js';
import { readOpenApi } from './openapi.js';
import { readLists } from './lists.js';
import { readMemory } from './memory.js';
import { readModels } from './model.js';
import { readAgentDiscovery } from './agent-discovery.js';
import { readNamedAgents } from './named-agents.js';
import { readMonitoring } from './monitoring.js';
import { findAboutNotify, readNotify } from './notify.js';
import { partOfItself } from './part-of-itself.js';
import { readPolicy } from './policy.js';
import { readProxy } from './proxy.js';
import { findAboutSelector, readPipes, readProviders } from './pipes.js';
import { Section } from './section.js';
import { readWeb } from './web.js';
import { findAboutRules, readRules } from './rules.js';
import { checkSpanPrices, findAboutSpans } from './span-budgets.js';
import { readSchedules } from './schedules.js';
import { checkStrategies, readStrategy, strategiesOf } from './strategy.js';
import { checkSupervisors, readSupervisor } from './supervisor.js';
import { withNamedAgents } from './tool-agents.js';
import { readToolFolders } from './tool-folders.js';
import { type NamesBefore, servedNames } from './served-names.js';
import { type Allowed, type Pins, pinKeyOf, specifyBuiltIn, specifyMcp, withheld } from './specifications.js';

export interface CompilerInputs {
  /** Every type there is, built in or of a tool folder; `mcp-tool` is known without. */
  readonly types: readonly ToolType[];
  /** What each server of `mcp.servers` said when it was asked. */
  readonly offers: readonly McpOffer[];
  /** MCP tools as they were allowed before; absent where an operator compiles, who accepts them as they are now. */
  readonly pins?: Pins;
  /** Under which names tools were served before; absent where nothing was compiled before. */
  readonly names?: NamesBefore;
  readonly digest: Digest;
  readonly files: AuthorizationFiles;
  /** Says what is wrong with arguments by an input schema; null if they fit. Absent where no validator is at hand. */
  argumentsProblem?(schema: JsonObject, args: JsonObject): string | null;
  /** Whether an environment variable has a value here; absent where that is unknown. */
  isSet?(variable: string): boolean;
}

/** A file has one of these: a proxy needs no tools. */
const oneOfThese = ['tool', 'pipes', 'proxy'];

export interface Compilation {
  /** Null exactly if there are problems. */
  readonly configuration: Configuration | null;
  /** Every mistake, in one pass. */
  readonly problems: readonly Problem[];
  /** What is legal and worth knowing. */
  readonly findings: readonly Finding[];
}

/**
 * Checks a configuration file as a whole and makes it self-contained. Takes the parsed value of the file, of whatever
 * shape; never throws for what is in it. What is compiled is well-formed. docs/configuration.md says what each key
 * means.
 */
export function compileConfiguration(raw: unknown, inputs: CompilerInputs): Compilation {
  const problems: Problem[] = [];
  const noted: Finding[] = [];
  const meant = withMeantSections(raw, problems);
  const { file: written, brought, groups: open } = writeOutManyTools(meant, inputs, problems, noted);
  const file = new Section(written, '', problems).closed(configurationKeys['']);
  if (!file.usable) return { configuration: null, problems, findings: [] };
  if (oneOfThese.every((key) => !file.has(key)))
    file.problem('tool', 'nothing', 'the tools, as a map from key to entry');
  const graph = readGraph(file.section('graph'));
  const given = { ...inputs, types: withQueryWrites(inputs.types, graph) };
  const limits = readLimits(file.section('limits'));
  readToolFolders(file);
  const types = given.types.map((type) => type.type);
  const lists = readLists(file.section('lists'), given.files);
  const entries = readEntries(file.value('tool'), { types, toolMs: limits.toolMs, problems, lists });
  const groups = readGroups(file.section('group'), entries, open);
  const path = partOfItself(raw);
  if (path !== null) {
    // Groups say it of themselves. The sections within sections below would be read as deep as they go, each in each.
    file.problem(path, 'an alias of what it stands in', 'what is meant there, without the alias');
    return { configuration: null, problems, findings: [] };
  }
  const connections = readConnections(file.section('connections'));
  const web = readWeb(file.section('web'));
  const openApi = readOpenApi(file.section('openapi'), connections, web.web?.privateHosts ?? []);
  const mcp = readMcp(file.section('mcp'), connections, openApi);
  const identified = identify(entries, mcp, problems, brought);
  const agentSections = agentEntries(file.section('agents'));
  const { common, named } = agentSections;
  const agentNames = named.map(([name]) => name);
  const policy = readPolicy(
    file.section('policy'),
    identified,
    groups,
    lists,
    mcp.servers.map(({ id }) => id),
    agentNames,
  );
  const rules = readRules(file.section('rules'), groups, identified, lists, agentNames);
  const agentArguments = new Map(
    [[defaultAgent, common] as const, ...named].map(([name, entry]) => [
      name,
      readAgentArguments(entry, identified, lists),
    ]),
  );
  const fallbacks = readFallbacks(file.section('group_fallbacks'), groups);
  checkAllowed(identified, policy, mcp, problems);
  checkConnections(identified, policy, connections, given.types, problems);
  checkHosts(identified, { policy, connections, servers: mcp.servers, types: given.types }, problems);
  const served = serve(identified, mcp, given, problems, brought);
  const checked = identified.map((tool) => ({ ...tool, allowed: specify(tool, given, served.hidden, mcp.servers) }));
  // A server’s schema is the server’s: what does not fit it any more hides the tool, or the example.
  const specified = withFittingExamples(withRedactions(checked, policy), given.argumentsProblem, { problems, noted });
  const categories = [...new Set(specified.flatMap((tool) => categoryOf(tool, given) ?? []))];
  const described = { tools: identified, categories, groups };
  const descriptions = readDescriptions(common, described);
  const compiled = specified.map((tool) => ({
    ...compileTool(tool, groups.tags.get(tool.entry.key) ?? [], served.names, mcp.servers, given),
    ...describedAs(tool, descriptions, given),
  }));
  const models = readModels(file);
  checkAgents(identified, { ...models, policy, limits }, problems);
  checkSampling(mcp.servers, models, problems);
  checkSpanPrices({ policy, ...models }, (path, found, write) => problems.push({ path, found, write }));
  const strategy = readStrategy(common);
  const proxy = readProxy(file);
  const providers = readProviders(file.section('providers'));
  const pipes = readPipes(file, providers, noted);
  const agentDiscovery = readAgentDiscovery(common, identified, providers, noted);
  const world = { ...described, common: descriptions, models, limits, providers, arguments: agentArguments, noted };
  const agents = readNamedAgents(agentSections, { ...world, categoryOf: (tool) => categoryOf(tool, given) });
  const reach = { policy, tree: groups.tree, fallbacks };
  const tools = withAgentEffects(withNamedAgents(compiled, identified, agents.agents, problems), reach);
  const paths = new Map(entries.map((entry) => [entry.key, entry.path]));
  checkCycles(tools, reach, (key) => paths.get(key) ?? 'tool', problems);
  refuseUnknownArguments(file, tools, identified, { rules, agentArguments, policy });
  const strategies = strategiesOf({ ...strategy, ...agents });
  checkStrategies(identified, strategies, policy, problems);
  checkSupervisors(identified, strategies, policy, problems);
  const ofIdentity = file.section('identity');
  const hasIdentity = ofIdentity.keys().length > 0 && ofIdentity.value('provider') !== 'none';
  const notify = readNotify(file.section('notify'), { agents: knownAgents({ ...agents, tools }), hasIdentity, policy });
  const own = { groups, connections, agents: agents.agents };
  const schedules = readSchedules(file.section('schedule'), own);
  const hooks = readHooks(file.section('hook'), own);
  const monitoring = readMonitoring(file.section('monitoring'), rules);
  const found = {
    tools,
    ...(Object.keys(groups.tree).length === 0 ? {} : { groupTree: groups.tree }),
    ...(Object.keys(fallbacks).length === 0 ? {} : { groupFallbacks: fallbacks }),
    ...(rules.length === 0 ? {} : { rules }),
    ...(Object.keys(lists).length === 0 ? {} : { lists }),
    ...boundsOfAll(agentArguments.get(defaultAgent) ?? {}),
    ...agents,
    identity: readIdentity(ofIdentity),
    policy,
    authorization: readAuthorization(file, identified, given.files, compiled),
    instructions: instructionsOrDefault(common),
    ...strategy,
    ...readSupervisor(common),
    ...readMemory(common),
    ...agentDiscovery,
    ...descriptions.settings,
    ...models,
    mcpServers: mcp.servers,
    ...(connections.length === 0 ? {} : { connections }),
    knowledge: readKnowledge(file.section('knowledge')),
    ...readDocuments(file.section('documents')),
    ...graph,
    ...web,
    limits,
    ...(proxy === null ? {} : { proxy }),
    ...(pipes === null ? {} : { pipes }),
    ...(notify === null ? {} : { notify }),
    ...(schedules.length === 0 ? {} : { schedules }),
    ...(hooks.length === 0 ? {} : { hooks }),
    ...(monitoring === null ? {} : { monitoring }),
  };
  if (problems.length > 0) return { configuration: null, problems: withoutConsequences(problems, meant), findings: [] };
  // Also what tool files describe.
  const content = wellFormed(found);
  const allowed = new Map(specified.map((tool) => [tool.entry.key, tool.allowed]));
  const findings = [
    ...findEverything(tools, policy, { paths, allowed, tree: groups.tree, fallbacks, identity: found.identity }),
    ...findAboutRules(rules, policy.allowedTools),
    ...findAboutServers(mcp.servers, given, raw),
    ...noted,
    ...findAboutSpans({ policy, ...models }),
    ...findAboutDescriptions(tools, policy.allowedTools),
    ...findAboutSelector({ pipes, ...agentDiscovery, ...agents }, given),
    ...findAboutRoles(found.identity, tools, groups.tree),
    ...findAboutGraph(graph, given),
    ...findAboutNotify(notify, given),
    ...findAboutHooks(hooks, given),
    ...findAboutNetwork(tools, policy.allowedTools, given.types),
  ];
  return { configuration: { version: versionOf(content, given.digest), ...content }, problems, findings };
}

function boundsOfAll(agentArguments: AgentArguments): Pick<Configuration, 'agentArguments'> {
  return Object.keys(agentArguments).length === 0 ? {} : { agentArguments };
}

/** Allowing an mcp-tool includes saying where it runs and what may leave it (G-80). */
function checkAllowed(tools: readonly IdentifiedTool[], policy: Policy, mcp: McpSettings, problems: Problem[]): void {
  const allowed = new Set(policy.allowedTools);
  for (const { entry, id, binding } of tools) {
    if (!isServerTool(entry.type) || !allowed.has(id)) continue;
    const name = entry.mcpToolId ?? entry.key;
    const { bindingIds } = entry.type === openApiToolType ? mcp.openApi : mcp;
    if (binding === null && !bindingIds.includes(name)) problems.push(notBound(entry, name));
    if (binding !== null && binding.redaction === null) {
      const write =
        'the result’s fields that may leave the tool, or `whole`; or take the tool out of policy.allowed_tools';
      problems.push({
        path: `${binding.path}.redaction`,
        found: `nothing, though the policy allows ${quote(entry.key)}`,
        write,
      });
    }
  }
}

function notBound(entry: ToolEntry, name: string): Problem {
  const section = entry.type === openApiToolType ? 'openapi' : 'mcp';
  const write = `\`${name}: { server: …, tool: …, redaction: … }\` under ${section}.tools, or take the tool out of policy.allowed_tools`;
  const path = entry.mcpToolId === null ? entry.path : `${entry.path}.mcp_tool_id`;
  return {
    path,
    found: `an allowed tool without an entry ${quote(name)} under ${section}.tools`,
    write,
    unknown: { kind: 'entry', name },
  };
}

/** The served name of each binding, by its place. */
function serve(
  tools: readonly IdentifiedTool[],
  mcp: McpSettings,
  { digest, names: before }: CompilerInputs,
  problems: Problem[],
  brought: ReadonlySet<string>,
): { readonly names: ReadonlyMap<string, string>; readonly hidden: ReadonlyMap<string, string> } {
  const usable = tools.filter(({ entry, unusable }) => unusable === null || !brought.has(entry.key));
  const places = usable.flatMap(({ binding }) => (binding?.kind === null ? binding : []));
  const ofServers = new Set(
    usable.flatMap(({ entry, binding }) => (binding !== null && brought.has(entry.key) ? [pinKeyOf(binding)] : [])),
  );
  const {
    names,
    problems: clashes,
    hidden,
  } = servedNames(places, {
    isBrought: (place) => ofServers.has(pinKeyOf(place)),
    servers: mcp.servers,
    strategy: mcp.naming,
    digest,
    ...(before === undefined ? {} : { before }),
  });
  problems.push(...clashes);
  return { names: new Map(places.map((place, at) => [pinKeyOf(place), names[at] ?? ''])), hidden };
}

function specify(
  tool: IdentifiedTool,
  given: CompilerInputs,
  hidden: ReadonlyMap<string, string>,
  servers: readonly McpServer[],
): Allowed {
  const { binding } = tool;
  const clash = binding === null ? undefined : hidden.get(pinKeyOf(binding));
  if (clash !== undefined) return withheld(clash);
  const type = given.types.find((one) => one.type === tool.entry.type);
  const isBound = connectionOf(tool, servers) !== undefined;
  if (isServerTool(tool.entry.type) || type === undefined) return specifyMcp(tool, { ...given, servers, isBound });
  const specification = specifyBuiltIn(tool, type, given.digest);
  return { specification, pin: null, outputSchema: null, reconcile: null, simplified: [], narrowed: [] };
}

/** The pack that a tool is documented in. */
function categoryOf({ entry, binding }: IdentifiedTool, { types }: CompilerInputs): string | undefined {
  return isServerTool(entry.type) ? binding?.server : types.find(({ type }) => type === entry.type)?.category;
}

/** Its short text: its own, else its type’s, which the first sentence of a description of its own replaces. */
function describedAs(
  tool: IdentifiedTool & { readonly allowed: Allowed },
  { modeOf }: Descriptions,
  given: CompilerInputs,
): Pick<ConfiguredTool, 'shortDescription' | 'category' | 'descriptionMode' | 'deferLoading'> {
  const { entry, allowed } = tool;
  const { spec } = allowed.specification;
  const category = categoryOf(tool, given);
  const ofType = entry.description === null ? given.types.find(({ type }) => type === entry.type) : undefined;
  const short = entry.shortDescription ?? ofType?.shortDescription;
  return {
    ...(spec === null ? {} : { shortDescription: short ?? firstSentence(spec.description) }),
    ...(category === undefined ? {} : { category }),
    ...(modeOf(tool, category) === 'deferred' ? { descriptionMode: 'deferred' as const } : {}),
    ...(entry.deferLoading === null ? {} : { deferLoading: entry.deferLoading }),
  };
}

/** What the tool names, else what its server does. */
function connectionOf({ entry, binding }: IdentifiedTool, servers: readonly McpServer[]): string | undefined {
  return entry.connection ?? servers.find((server) => server.id === binding?.server)?.connection?.id;
}

function compileTool(
  tool: IdentifiedTool & { readonly allowed: Allowed },
  groups: readonly string[],
  served: ReadonlyMap<string, string>,
  servers: readonly McpServer[],
  given: CompilerInputs,
): ConfiguredTool {
  const { entry, id, binding } = tool;
  const type = given.types.find((one) => one.type === entry.type);
  const { specification, pin, outputSchema, nulls, reconcile, title, icons, operation, subscribes } = tool.allowed;
  const connection = connectionOf(tool, servers);
  const effect = specification.spec?.effect ?? binding?.effect ?? 'external_side_effect';
  return {
    key: entry.key,
    id,
    type: entry.type ?? mcpToolType,
    title: entry.title === entry.key ? (title ?? entry.key) : entry.title,
    description: specification.spec?.description ?? entry.description ?? '',
    groups,
    states: entry.states,
    target: entry.target,
    spec: specification.spec,
    repeatable: effect === 'read_only' || (type?.repeatable ?? binding?.idempotent ?? false),
    timeoutMs: entry.timeoutMs,
    ...(entry.parkedMs === null ? {} : { parkedMs: entry.parkedMs }),
    ...(entry.icon === null ? {} : { icon: entry.icon }),
    ...(entry.icon !== null || icons === undefined ? {} : { icons }),
    ...(entry.examples.length === 0 ? {} : { examples: entry.examples }),
    ...(type?.file === undefined ? {} : { file: type.file }),
    mcp:
      binding === null
        ? null
        : {
            server: binding.server,
            tool: binding.tool,
            ...(binding.kind === null ? {} : { kind: binding.kind }),
            served: binding.kind === null ? (served.get(pinKeyOf(binding)) ?? '') : entry.key,
            pin,
            outputSchema,
            ...(nulls === undefined ? {} : { nulls }),
            ...(reconcile === null || reconcile === undefined ? {} : { reconcile }),
            ...(binding.cacheMs === null ? {} : { cacheMs: binding.cacheMs }),
            ...(binding.content === null ? {} : { content: binding.content }),
            ...(subscribes === undefined ? {} : { subscribes }),
            ...(operation === undefined ? {} : { operation }),
          },
    ...(connection === undefined ? {} : { connection }),
    ...(entry.agent === null ? {} : { agent: entry.agent }),
    ...(entry.plan === null ? {} : { plan: entry.plan }),
    ...(entry.bounds === null ? {} : { arguments: entry.bounds }),
    unavailable: specification.unavailable,
  };
}
