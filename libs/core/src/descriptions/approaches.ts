import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { alwaysFullTypes, loadToolsetType, readFileType } from './types.js';
import type { DescriptionSettings } from './types.js';

/** Ways to describe the same tools, to be compared: as they are configured, and as they might be. */
export const approaches = ['configured', 'full', 'deferred, full schema', 'deferred', 'groups'] as const;
export type Approach = (typeof approaches)[number];

/**
 * The configuration with its tools described in another way. What it defers itself stays deferred; where it defers
 * nothing, all but the tools that are always full are. Null where it has nothing to compare: no groups to load, or no
 * tool that reads files.
 */
export function describedBy(approach: Approach, configuration: Configuration): Configuration | null {
  const { descriptions, tools } = configuration;
  const settings: DescriptionSettings = {
    deferredSchema: 'minimal',
    deferredAbove: 0,
    readBeforeUse: false,
    deferredGroups: {},
  };
  switch (approach) {
    case 'configured':
      return configuration;
    case 'full':
      return { ...configuration, tools: tools.map(inFull), descriptions: settings };
    case 'deferred, full schema':
    case 'deferred': {
      if (!tools.some(({ type }) => type === readFileType)) return null;
      const isChosen = tools.some(({ descriptionMode }) => descriptionMode === 'deferred');
      const deferredSchema = approach === 'deferred' ? 'minimal' : 'full';
      const some = isChosen ? tools : tools.map(inBrief);
      return { ...configuration, tools: some, descriptions: { ...settings, deferredSchema } };
    }
    case 'groups': {
      const deferredGroups = descriptions?.deferredGroups ?? {};
      if (Object.keys(deferredGroups).length === 0) return null;
      return { ...configuration, tools: tools.map(inFull), descriptions: { ...settings, deferredGroups } };
    }
  }
}

function inFull({ descriptionMode, ...tool }: ConfiguredTool): ConfiguredTool {
  return descriptionMode === undefined ? { ...tool } : tool;
}

function inBrief(tool: ConfiguredTool): ConfiguredTool {
  const isFull = alwaysFullTypes.includes(tool.type) || tool.type === loadToolsetType;
  return isFull ? tool : { ...tool, descriptionMode: 'deferred' };
}
