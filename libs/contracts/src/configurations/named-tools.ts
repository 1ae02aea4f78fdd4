import type { ConfiguredTool } from '@sluice/core';
import type { ConfigVersion } from '@sluice/records';
import { isPart } from './parts.js';

/** What tools are called in a configuration. */
type NamedTool = Pick<ConfiguredTool, 'key' | 'id'>;

/** The names of tools in records of agent.config, in the order of the log, without their texts: signed or not. */
export class NamedTools {
  private readonly parts = new Map<string, NamedTool>();

  /** Those of the configuration in the record: none of a part, and of what is no configuration at all. */
  take(record: Pick<ConfigVersion, 'version' | 'configuration' | 'parts'>): readonly NamedTool[] {
    try {
      const content = JSON.parse(record.configuration) as NamedTool & { readonly tools?: readonly NamedTool[] };
      if (isPart(record)) {
        const { key, id } = content;
        this.parts.set(record.version, { key, id });
        return [];
      }
      return [...(content.tools ?? []), ...record.parts.flatMap((name) => this.parts.get(name) ?? [])];
    } catch {
      return [];
    }
  }
}
