import { Fault } from '@sluice/core';
import type { AskedTool, Source, ToolLookup } from '@sluice/audit';
import type { Configurations, Loaded } from '@sluice/service';

/** Versions that nobody has, remembered so that the audit waits for each of them once. */
const mostUnknown = 1_000;
const nothing: ToolLookup = () => undefined;

/** What configurations say of the tools that records name. */
export class ToolDirectory {
  readonly #unknown = new Set<string>();
  readonly #tools = new WeakMap<Loaded, ReadonlyMap<string, AskedTool>>();

  constructor(private readonly configurations: Configurations) {}

  /** For the entries of this record. A version that is not on agent.config has no tools, and so no argument is repeated. */
  async lookup(message: Source): Promise<ToolLookup> {
    if (message.topic !== 'agent.steps') return nothing;
    const { configVersion } = message.record;
    const loaded = await this.#version(configVersion);
    if (loaded === undefined) return nothing;
    const tools = this.#toolsOf(loaded);
    return (version, key) => (version === configVersion ? tools.get(key) : undefined);
  }

  async #version(version: string): Promise<Loaded | undefined> {
    if (this.#unknown.has(version)) return undefined;
    try {
      return await this.configurations.version(version);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (this.#unknown.size >= mostUnknown) this.#unknown.clear();
      this.#unknown.add(version);
      return undefined;
    }
  }

  #toolsOf(loaded: Loaded): ReadonlyMap<string, AskedTool> {
    let tools = this.#tools.get(loaded);
    if (tools === undefined) {
      tools = new Map(
        loaded.configuration.tools.map(({ key, id, groups, spec }) => [
          key,
          { id, groups, inputSchema: spec?.inputSchema ?? null },
        ]),
      );
      this.#tools.set(loaded, tools);
    }
    return tools;
  }
}
