import { Fault } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { AuditedTool, Source, ToolLookup } from '@sluice/audit';
import type { Configurations, Loaded } from '@sluice/run';

/** Versions that cannot be found, remembered so that the audit waits for each of them once. */
const mostUnknown = 1_000;
const nothing: ToolLookup = () => undefined;

/** What configurations say of the tools that records name. */
export class ToolDirectory {
  private readonly unknown = new Set<string>();
  /**
   * When the last wait in vain began. A version is on agent.config before any record names it, so whatever older
   * records name would have come by then: a copy of a genuine record may name any version, and many of them must not
   * hold up the chain one after another.
   */
  private waitedFrom = 0;
  private readonly tools = new WeakMap<Loaded, ReadonlyMap<string, AuditedTool>>();

  constructor(
    private readonly configurations: Configurations,
    private readonly clock: Clock,
  ) {}

  /**
   * For the entries of this record. A version that is not on agent.config has no tools, and so no argument is
   * repeated. What is not authentic waits for none: a forger could hold up the chain.
   */
  async lookup(message: Source, authentic: boolean): Promise<ToolLookup> {
    if (message.topic !== 'agent.steps') return nothing;
    const { configVersion } = message.record;
    const here = this.configurations.versionOrNull(configVersion);
    const loaded = here ?? (authentic ? await this.arrival(configVersion, message.timestamp) : null);
    if (loaded === null) return nothing;
    const tools = this.toolsOf(loaded);
    return (version, key) => (version === configVersion ? tools.get(key) : undefined);
  }

  private async arrival(version: string, namedAt: number): Promise<Loaded | null> {
    if (this.unknown.has(version) || namedAt < this.waitedFrom) return null;
    const began = this.clock.now();
    try {
      return await this.configurations.version(version);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (this.unknown.size >= mostUnknown) this.unknown.clear();
      this.unknown.add(version);
      this.waitedFrom = began;
      return null;
    }
  }

  private toolsOf(loaded: Loaded): ReadonlyMap<string, AuditedTool> {
    let tools = this.tools.get(loaded);
    if (tools === undefined) {
      tools = new Map(
        loaded.configuration.tools.map(({ key, id, groups, spec }) => [
          key,
          { id, groups, inputSchema: spec?.inputSchema ?? null },
        ]),
      );
      this.tools.set(loaded, tools);
    }
    return tools;
  }
}
