import { binds } from '../availability/conditions.js';
import type { RuleFacts, Whom } from '../availability/types.js';
import { claimsInBounds } from '../availability/measures.js';
import type { JsonObject, JsonValue } from '../json.js';
import { joinSchema } from './join-schema.js';
import type { Configuration } from '../settings/configuration.js';
import { type Lookup, type CompiledBounds, lookupsIn, compileBounds, outOfBounds } from './compile-bounds.js';
import { withSchemaDefaults } from './schema-defaults.js';
import type { ArgumentBounds, OutOfBounds } from './types.js';

/** Bounds of a tool’s arguments with where they stand. */
interface NamedBounds {
  /** The name of the rule; `tool.<key>` for those of an entry, `agents.<agent>` for those of agents. */
  readonly rule: string;
  readonly bounds: CompiledBounds;
}

/** The first argument of a call that is out of its bounds, and the rule that says so. */
interface BrokenBounds extends OutOfBounds {
  readonly rule: string;
}

/** Everything that bounds the arguments of a configuration’s tools. */
export interface ArgumentRules extends Joins {
  /** Whether anything is bounded. */
  readonly hasBounds: boolean;
  /** The names of everything that bounds arguments. */
  readonly names: ReadonlySet<string>;
  /** What binds the arguments of a call of the tool, in the order of the names; all of it must hold. */
  of(toolId: string, facts: RuleFacts, state: string): readonly NamedBounds[];
  /** Which bounds a call breaks first; null where it is within all of them. */
  broken(call: JudgedCall, facts: RuleFacts, state: string): BrokenBounds | null;
  /** What has to be asked of lists that are kept elsewhere before the call can be judged. */
  lookups(call: JudgedCall, facts: RuleFacts, state: string): readonly Lookup[];
}

/** What of the bounds the schema that a model is sent can say. */
interface Joins {
  /** Names what the keys of all tools together depend on: equal ones give equal keys. */
  joinScope(facts: RuleFacts, state: string): string;
  /**
   * Names everything that the joined schema of the tool is made of beside the configuration; null where nothing binds
   * its calls. Equal keys give equal schemas.
   */
  joinKey(toolId: string, facts: RuleFacts, state: string): string | null;
  /** The schema of the tool with its bounds (joinSchema). */
  joinedSchema(toolId: string, schema: JsonObject, facts: RuleFacts, state: string): JsonObject;
}

/** A call as it is judged: `args` have been validated. */
export interface JudgedCall {
  readonly toolId: string;
  readonly args: JsonValue;
}

interface Binding extends NamedBounds {
  /** The claims that its bounds compare with. */
  readonly claims: readonly string[];
  readonly whom: Whom | undefined;
  /** Whether it binds the calls of agents alone, and none that a request names itself. */
  readonly ofAgents: boolean;
}

type Bounding = Pick<Configuration, 'tools' | 'rules' | 'agentArguments' | 'agents' | 'agent' | 'lists'>;

const none: readonly Binding[] = Object.freeze([]);

/** Makes all bounds of a configuration ready, once per configuration version. */
export function compileArgumentRules(configuration: Bounding): ArgumentRules {
  const byTool = bindingsOf(configuration);
  const schemas = new Map(configuration.tools.map(({ id, spec }) => [id, spec?.inputSchema]));
  const of = (toolId: string, facts: RuleFacts, state: string): readonly Binding[] => {
    const bindings = byTool.get(toolId);
    if (bindings === undefined) return none;
    return bindings.filter(({ ofAgents, whom }) => (!ofAgents || facts.agent !== '') && binds(whom, facts, state));
  };
  const all = [...byTool.values()].flat();
  // Most rules have many tools: whom they bind is asked once for each.
  const scopes = [...new Map(all.map((one) => [one.whom ?? one.rule, one])).values()].filter(
    ({ ofAgents, whom }) => ofAgents || whom !== undefined,
  );
  const claims = [...new Set(all.flatMap((one) => one.claims))].sort();
  const whole = ({ toolId, args }: JudgedCall): JsonValue => withSchemaDefaults(schemas.get(toolId), args);
  return {
    hasBounds: byTool.size > 0,
    names: new Set(all.map(({ rule }) => rule)),
    of,
    joinScope(facts, state) {
      let scope = '';
      for (const { ofAgents, whom } of scopes)
        scope += (!ofAgents || facts.agent !== '') && binds(whom, facts, state) ? '1' : '0';
      for (const name of claims) scope += `\n${JSON.stringify(facts.claims[name] ?? null)}`;
      return scope;
    },
    joinKey(toolId, facts, state) {
      const bounding = of(toolId, facts, state);
      if (bounding.length === 0) return null;
      const names = bounding.flatMap(({ claims }) => claims);
      const values = [...new Set(names)].sort().map((name) => [name, facts.claims[name] ?? null]);
      return JSON.stringify([bounding.map(({ rule }) => rule), values]);
    },
    joinedSchema(toolId, schema, facts, state) {
      const joining = of(toolId, facts, state).flatMap(({ bounds }) => bounds.paths);
      return joinSchema(schema, joining, { claims: facts.claims, lists: configuration.lists ?? {} });
    },
    broken(call, facts, state) {
      const bounding = of(call.toolId, facts, state);
      if (bounding.length === 0) return null;
      const args = whole(call);
      for (const { rule, bounds } of bounding) {
        const broken = outOfBounds(bounds, args, facts);
        if (broken !== null) return { rule, ...broken };
      }
      return null;
    },
    lookups(call, facts, state) {
      const bounding = of(call.toolId, facts, state);
      if (bounding.length === 0) return [];
      const args = whole(call);
      return bounding.flatMap(({ bounds }) => lookupsIn(bounds, args));
    },
  };
}

/** A refusal in words: what to change, and which rule wants it. */
export function outOfBoundsMessage({ rule, path, why }: BrokenBounds): string {
  return `The argument ${path} is out of its bounds by the rule ${JSON.stringify(rule)}: ${why}. Change it and call again, or go on without the call.`;
}

function bindingsOf(configuration: Bounding): ReadonlyMap<string, Binding[]> {
  const { tools, rules = [], agentArguments = {}, lists, agents = {}, agent = '' } = configuration;
  const byTool = new Map<string, Binding[]>();
  const add = (toolId: string, rule: string, bounds: ArgumentBounds, of: Partial<Binding> = {}): void => {
    const made = { bounds: compileBounds(bounds, lists), claims: claimsInBounds(bounds) };
    const binding = { rule, ...made, whom: undefined, ofAgents: false, ...of };
    byTool.set(toolId, [...(byTool.get(toolId) ?? []), binding]);
  };
  for (const { id, key, ...tool } of tools) if (tool.arguments !== undefined) add(id, `tool.${key}`, tool.arguments);
  for (const [id, bounds] of Object.entries(agentArguments)) add(id, 'agents.default', bounds, { ofAgents: true });
  const own = Object.hasOwn(agents, agent) ? agents[agent]?.arguments : undefined;
  for (const [id, bounds] of Object.entries(own ?? {})) add(id, `agents.${agent}`, bounds, { ofAgents: true });
  for (const { name, whom, tools: named, ...rule } of rules)
    if (rule.arguments !== undefined) for (const id of named) add(id, name, rule.arguments, { whom });
  for (const bindings of byTool.values())
    bindings.sort((one, other) => (one.rule < other.rule ? -1 : one.rule > other.rule ? 1 : 0));
  return byTool;
}
