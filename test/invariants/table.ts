/** A test, by its file and a part of its title. */
export type Shown = readonly [file: string, title: string];

/**
 * Each invariant of the tool-use specification, and the tests that show it. `stage` names the scenario of
 * taken-out.test.ts in which the stage that holds it is taken out, and what it prevents then happens.
 */
export interface Invariant {
  readonly name: string;
  readonly shown: readonly Shown[];
  readonly stage?: string;
  /** Why there is nothing to show yet. */
  readonly open?: string;
}

const runner = 'libs/core/test/run-tool.test.ts';
const contract = 'libs/tools/test/contract.test.ts';
const source = 'libs/sources/test/source.test.ts';
const oneWay = 'test/static/one-way.test.ts';
const house = 'test/static/house.test.ts';
const arrows = 'test/arrows.test.ts';
const providers = 'libs/model/test/provider-contract.test.ts';
const requests = 'libs/model/test/provider-request.test.ts';
const refusals = 'test/refusals.test.ts';
const hostileTools = 'test/hostile/tools.test.ts';
const hostileServers = 'test/hostile/servers.test.ts';
const markers = 'test/connections/markers.test.ts';
const whoMay = 'test/connections/who-may.test.ts';
const judging = 'libs/run/test/connections.test.ts';
const evaluate = 'libs/core/test/evaluate.test.ts';

export const invariants: Readonly<Record<string, Invariant>> = {
  '1': { name: 'TOOLS_VIA_TOOLRUNNER', shown: [[oneWay, 'is runTool: no other module calls'], [runner, 'goes through its stages in the one order']] },
  '2': { name: 'TOOLS_IN_PACKAGES', shown: [[house, 'tools are defined in the library of packs'], [arrows, 'go one way in every source file']] },
  '3': { name: 'TOOLS_IO_VIA_CAPABILITIES', shown: [['libs/packs/test/tool-files.test.ts', 'does nothing but through its capabilities'], ['test/tool-use/capabilities.test.ts', 'is bound to another adapter by configuration']], stage: 'capabilities' },
  '4': { name: 'REDACTION_REQUIRED', shown: [[runner, 'withholds what cannot be redacted'], [source, 'keeps to the allowlist'], [source, 'allows nothing where the list is empty']], stage: 'redact' },
  '5': { name: 'TOOLCALLID_STABLE', shown: [[refusals, 'replaces a tool call id that is too long'], [hostileTools, 'each give one result event, and one start before it']] },
  '6': { name: 'LANGGRAPH_OWNS_GRAPHS', shown: [[house, 'no agent framework is imported']] },
  '7': { name: 'STREAM_VIA_ASSISTANT_STREAM', shown: [], open: 'No stream is served over HTTP yet; events travel as records (ruling XB-37).' },
  '8': { name: 'DECODER_ASSEMBLES_TOOLCALLS', shown: [[providers, 'calls in order with their own arguments'], [providers, 'never mixes two turns'], [providers, 'keeps a call that the token limit cut off without its arguments'], [providers, 'does not run a call whose arguments the token limit cut']] },
  '9': { name: 'BINDING_IN_COMPOSITION_ROOT', shown: [[house, 'tools are bound in the libraries of tools and sources']] },
  '10': { name: 'TOOL_SEMANTICS_CANONICAL', shown: [[contract, 'refuses %s, naming tool, construct and path'], [contract, 'refuses an effect that is none of the three'], [arrows, 'T-10g'], ['libs/core/test/invocation-record.test.ts', 'of a call that failed has its error'], ['test/tool-use/raw.test.ts', 'decides nothing and costs nothing']] },
  '11': { name: 'WIRE_FORMATS_ARE_ADAPTERS', shown: [[providers, 'gives text beside calls as the thought'], [providers, 'keeps what has no place in a turn beside it'], [arrows, 'core importing a library']] },
  '12': { name: 'OPENAI_WIRE_V1_SUPPORTED', shown: [[requests, 'the offered tools and no other']] },
  '13': { name: 'JSON_SCHEMA7_PARAMETERS', shown: [[contract, 'derives draft-7 JSON Schema from the contract']] },
  '14': { name: 'NO_MANUAL_SCHEMA_DUPLICATION', shown: [[house, 'no tool file writes JSON Schema by hand']] },
  '15': { name: 'GOLDEN_FIXTURES_ENFORCE_WIRE_FORMAT', shown: [[requests, 'the offered tools and no other'], [requests, 'tells the history as text when no tools are offered']] },
  '16': { name: 'TOOL_ID_NAMESPACED', shown: [['libs/configuration/test/configuration.test.ts', 'loads unchanged, entry by entry'], [source, 'refuses two tools with one id'], ['libs/configuration/test/tool-ids.test.ts', 'hold letters, digits, _ and - alone']] },
  '17': { name: 'EFFECT_TYPED', shown: [[contract, 'refuses an effect that is none of the three']] },
  '18': { name: 'CATALOG_IS_EXPLICIT', shown: [['test/workflow.test.ts', 'shows the model exactly the offered tools'], [refusals, 'what becomes eligible in mid-turn but was not offered']], stage: 'eligible' },
  '19': { name: 'POLICY_IS_DATA', shown: [['test/while-it-runs.test.ts', 'takes force without a restart'], [house, 'no case for a tenant']] },
  '20': { name: 'DENY_BY_DEFAULT', shown: [[refusals, 'a tool that policy does not allow'], [evaluate, 'without a policy eligible tools are not permitted']], stage: 'policy' },
  '21': { name: 'MCP_UNTRUSTED_BY_DEFAULT', shown: [[hostileServers, 'has the changed one held back and reported'], ['libs/hub/test/allowed-by-name.test.ts', 'are none that can be called']] },
  '22': { name: 'TOOL_ID_STABILITY', shown: [[source, 'refuses two tools with one id'], ['libs/configuration/test/served-names.test.ts', 'never drops a tool']] },
  '23': { name: 'TOOL_CONFIG_PROPAGATION', shown: [[refusals, 'what becomes eligible in mid-turn but was not offered'], ['test/workflow.test.ts', 'keeps runs of many sessions apart'], ['libs/core/test/admission.test.ts', 'is all it may run']] },
  '24': { name: 'TOOL_CONTRACTS_ARE_CANONICAL', shown: [[contract, 'tells the compiler schema, effect, redaction'], [house, 'nothing that runs without being bound']] },
  '25': { name: 'TOOL_SAME_PATH_ALL_EXECUTORS', shown: [[oneWay, 'is runTool: no other module calls'], ['test/cluster/same-path.test.ts', 'leave the same on %s'], ['test/cluster/same-path.test.ts', 'are denied everywhere where the run was offered nothing']] },
  '26': { name: 'CONNECTION_ID_ONLY', shown: [[oneWay, 'has a context that can hold no secret'], [markers, 'are in no context that a tool got'], [markers, 'that change between two calls are the new ones'], [markers, 'to MCP servers that echo them']] },
  '26a': { name: 'CONNECTION_ID_VIA_CONTEXT', shown: [[contract, 'refuses an argument called connectionId at any depth'], [source, 'refuses a connectionId among the arguments'], [judging, 'is refused where the context names none']], stage: 'connection' },
  '27': { name: 'TOOL_SOURCE_RETURNS_BOUND_TOOL', shown: [[source, 'runs through its own methods'], [arrows, 'go one way in every source file']], stage: 'validate input' },
  '28': { name: 'NO_SECRETS_IN_CONTEXT', shown: [[markers, 'are nowhere afterwards'], [oneWay, 'has a context that can hold no secret'], ['test/invariants/taken-out.test.ts', 'a context that holds more than references']] },
  '29': { name: 'AUTH_VIA_CAPABILITY_INTERFACE', shown: [[contract, 'hands a tool its arguments, the references of its call'], [contract, 'gives its token to a tool that asks its capability'], [markers, 'that are refused are renewed once']], stage: 'capabilities' },
  '30': { name: 'GRANT_INTERSECTION_REQUIRED', shown: [[runner, 'a connection that is not granted'], [judging, 'is refused where %s'], [whoMay, 'and no broker is asked']], stage: 'connection' },
  '31': { name: 'ARCH_SINGLE_EXECUTION_PATH', shown: [[oneWay, 'is runTool: no other module calls'], [oneWay, 'is seen to be gone round']] },
  '32': { name: 'TOOL_FILE_PURITY', shown: [['libs/packs/test/tool-files.test.ts', 'would be caught doing otherwise'], ['test/isolated-tools.test.ts', 'sees no environment, no file but its own'], [arrows, 'is read by libs/host alone']] },
  '33': { name: 'NO_DEFAULT_EXECUTABLE_CATALOG', shown: [[house, 'nothing that runs without being bound']] },
  '34': { name: 'RUNTIME_BINDS_ALL', shown: [[contract, 'does not run without a declared capability'], [source, 'does not need the implementation of a tool that is not allowed']] },
  F1: { name: 'AUTHZ_CHECK_BEFORE_TOOL_EXEC', shown: [[runner, 'what is not authorized'], [runner, 'goes through its stages in the one order']], stage: 'authorize' },
  F2: { name: 'CONTEXT_HAS_IDENTITY', shown: [[oneWay, 'has a context that can hold no secret'], ['test/invariants/taken-out.test.ts', 'a call without a principal']] },
  F3: { name: 'CAPABILITY_OWNS_SECRETS', shown: [[arrows, 'is read by libs/host alone'], [markers, 'are nowhere afterwards']], stage: 'conceal' },
}; // prettier-ignore
