import type { ConfiguredTool } from '../settings/configured-tool.js';
import { DecisionMemory, type MemoryUse } from './decision-memory.js';
import { defaultGroup, noNames, normaliseGroups, normaliseState, undefinedState, wildcard } from './defaults.js';
import { type GroupTree, noGroupTree, withGroupsBelow } from './group-tree.js';
import { type ToolSet, ToolsByName, addTool, appendKeys, hasTool, newToolSet, uniteInto } from './tool-sets.js';

export type RuleTool = Pick<ConfiguredTool, 'key' | 'groups' | 'states' | 'target' | 'isClients'>;

/** One filtering. The three lists of tool keys are in configuration order and hold each tool exactly once. */
export interface RuleDecision {
  readonly eligible: readonly string[];
  /** Tools of none of the groups, whatever the state. */
  readonly filteredByGroup: readonly string[];
  /** Tools of one of the groups that are not available in the state. */
  readonly filteredByState: readonly string[];
  /** Requested names that no tool carries; `default` and `*` are always known. */
  readonly unknownGroups: readonly string[];
  /** Groups and state after defaulting. */
  readonly groups: readonly string[];
  readonly state: string;
}

export interface Rules {
  /** Decides for groups and a state as they stand in the record, null meaning absent. */
  decide(groups: readonly string[] | null, state: string | null): RuleDecision;
  /** The state test alone, for the tool at this place of the configuration and a state after defaulting. */
  passesState(tool: number, state: string): boolean;
  /** Tools that a request for each group covers (G-109). */
  availabilityByGroup(): ReadonlyMap<string, number>;
  /** Tools that pass the state test, for each known state (G-113). */
  availabilityByState(): ReadonlyMap<string, number>;
  /** Every tag and every group that holds others, and `default` and `*`. */
  readonly knownGroups: ReadonlySet<string>;
  /** Every state that a tool is available in or leads to, and `undefined`. */
  readonly knownStates: ReadonlySet<string>;
  /** Hits, misses and size of the memory for decisions (G-165). */
  memory(): MemoryUse;
}

type Partition = Pick<RuleDecision, 'eligible' | 'filteredByGroup' | 'filteredByState'>;

/**
 * At most this many decisions are remembered, and fewer if their lists would hold more names than `namesRemembered`
 * in all.
 */
const decisionsRemembered = 4_096;
const namesRemembered = 4_194_304;

/** Stands for every requested `*`, and for every state that no tool names. */
const allGroups = -1;
const anyOtherState = -1;

/** Compiles the group and state rule: sets of tools by group and by state, once per configuration version. */
export function compileRules(tools: readonly RuleTool[], tree: GroupTree = noGroupTree): Rules {
  return new CompiledRules(tools, tree);
}

class CompiledRules implements Rules {
  readonly knownGroups: ReadonlySet<string>;
  readonly knownStates: ReadonlySet<string>;
  private readonly keys: readonly string[];
  private readonly groups: ToolsByName;
  /** For each group that holds others: the numbers of all tags that a request for it covers. */
  private readonly nested: ReadonlyMap<string, readonly number[]>;
  private readonly states: ToolsByName;
  /** The tools that are available in every state, and the whole. */
  private readonly everywhere: ToolSet;
  private readonly everyTool: ToolSet;
  private readonly _memory: DecisionMemory<Partition>;
  /** The tools of each state that some tool names, `*` included, made when first asked for. */
  private readonly inState: (ToolSet | undefined)[] = [];
  /** The tools that the request itself brings, whatever groups it names. */
  private readonly brought: ToolSet;
  /** Numbers of the requested groups, in use during one call only. */
  private readonly wanted: Int32Array;

  constructor(tools: readonly RuleTool[], tree: GroupTree) {
    this.keys = tools.map((tool) => tool.key);
    this.groups = new ToolsByName(tools.length);
    this.states = new ToolsByName(tools.length);
    this.everyTool = newToolSet(tools.length);
    this.brought = newToolSet(tools.length);
    const targets = new Set<string>();
    tools.forEach((tool, place) => {
      addTool(this.everyTool, place);
      if (tool.isClients === true) addTool(this.brought, place);
      for (const group of tool.groups) this.groups.add(group, place);
      for (const state of tool.states) this.states.add(state, place);
      if (tool.target !== null) targets.add(tool.target);
    });
    this.nested = new Map(
      Object.keys(tree).map((group) => [
        group,
        withGroupsBelow(group, tree).flatMap((name) => this.groups.number(name) ?? []),
      ]),
    );
    this.wanted = new Int32Array(this.groups.names().length + 1);
    const everywhere = this.states.number(wildcard);
    this.everywhere = everywhere === undefined ? newToolSet(tools.length) : this.states.set(everywhere);
    this.knownGroups = new Set([...this.groups.names(), ...this.nested.keys(), defaultGroup, wildcard]);
    const named = this.states.names().filter((state) => state !== wildcard);
    this.knownStates = new Set([...named, ...targets, undefinedState]);
    const affordable = Math.floor(namesRemembered / Math.max(1, tools.length));
    this._memory = new DecisionMemory(Math.max(1, Math.min(decisionsRemembered, affordable)));
  }

  decide(groups: readonly string[] | null, state: string | null): RuleDecision {
    const requested = normaliseGroups(groups);
    const current = normaliseState(state);
    const wanted = this.wanted;
    let count = 0;
    let all = false;
    let unknown: string[] | undefined;
    let covered: Set<number> | undefined;
    for (const name of requested) {
      if (name === wildcard) {
        all = true;
        continue;
      }
      const nested = this.nested.get(name);
      if (nested !== undefined) {
        covered ??= new Set();
        for (const one of nested) covered.add(one);
        continue;
      }
      const number = this.groups.number(name);
      if (number !== undefined) wanted[count++] = number;
      else if (name !== defaultGroup) (unknown ??= []).push(name);
    }
    if (covered !== undefined) {
      // A tag that is requested by itself as well counts once.
      for (let i = 0; i < count; i++) covered.add(wanted[i] as number);
      count = 0;
      for (const number of covered) wanted[count++] = number;
    }
    if (all) {
      wanted[0] = allGroups;
      count = 1;
    }
    ascending(wanted, count);
    const stateNumber = this.stateNumber(current);
    let partition = this._memory.find(wanted, count, stateNumber);
    if (partition === undefined) {
      partition = this.partition(wanted, count, this.available(stateNumber));
      this._memory.store(wanted, count, stateNumber, partition);
    }
    return Object.freeze({
      eligible: partition.eligible,
      filteredByGroup: partition.filteredByGroup,
      filteredByState: partition.filteredByState,
      unknownGroups: unknown === undefined ? noNames : Object.freeze(unknown),
      groups: requested,
      state: current,
    });
  }

  passesState(tool: number, state: string): boolean {
    return hasTool(this.available(this.stateNumber(state)), tool);
  }

  availabilityByGroup(): ReadonlyMap<string, number> {
    const counts = new Map(this.groups.names().map((name, number) => [name, this.groups.members(number).length]));
    for (const [name, numbers] of this.nested)
      counts.set(name, new Set(numbers.flatMap((number) => this.groups.members(number))).size);
    return counts;
  }

  availabilityByState(): ReadonlyMap<string, number> {
    const everywhere = this.states.number(wildcard);
    const always = everywhere === undefined ? 0 : this.states.members(everywhere).length;
    const also = (number: number): number => {
      return number === anyOtherState
        ? 0
        : this.states.members(number).filter((tool) => !hasTool(this.everywhere, tool)).length;
    };
    return new Map([...this.knownStates].map((state) => [state, always + also(this.stateNumber(state))]));
  }

  memory(): MemoryUse {
    return this._memory.use();
  }

  /** `*` as a request's state needs no care: the tools that list it are those available everywhere. */
  private stateNumber(state: string): number {
    return this.states.number(state) ?? anyOtherState;
  }

  /** The tools that pass the state test: the state is named, or `*` is. */
  private available(state: number): ToolSet {
    if (state === anyOtherState) return this.everywhere;
    let set = this.inState[state];
    if (set === undefined) {
      set = this.states.set(state).slice();
      uniteInto(set, this.everywhere);
      this.inState[state] = set;
    }
    return set;
  }

  /** The rule itself: a group in common, or `*` requested; and then the state test. */
  private partition(wanted: Int32Array, count: number, available: ToolSet): Partition {
    const grouped = newToolSet(this.keys.length);
    if (count > 0 && wanted[0] === allGroups) uniteInto(grouped, this.everyTool);
    else for (let i = 0; i < count; i++) uniteInto(grouped, this.groups.set(wanted[i] as number));
    uniteInto(grouped, this.brought);
    const eligible: string[] = [];
    const filteredByGroup: string[] = [];
    const filteredByState: string[] = [];
    for (let i = 0; i < grouped.length; i++) {
      const inGroup = grouped[i] as number;
      const inState = available[i] as number;
      appendKeys(eligible, this.keys, inGroup & inState, i << 5);
      appendKeys(filteredByState, this.keys, inGroup & ~inState, i << 5);
      appendKeys(filteredByGroup, this.keys, (this.everyTool[i] as number) & ~inGroup, i << 5);
    }
    return {
      eligible: Object.freeze(eligible),
      filteredByGroup: Object.freeze(filteredByGroup),
      filteredByState: Object.freeze(filteredByState),
    };
  }
}

/** Sorts the first `count` numbers in place; requests name few groups, so the plain way is the fast one. */
function ascending(numbers: Int32Array, count: number): void {
  if (count > 32) {
    numbers.subarray(0, count).sort();
    return;
  }
  for (let i = 1; i < count; i++) {
    const number = numbers[i] as number;
    let place = i;
    for (; place > 0 && (numbers[place - 1] as number) > number; place--) numbers[place] = numbers[place - 1] as number;
    numbers[place] = number;
  }
}
