import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { GraphSettings } from './types.js';

/** `graph`: where the graphs of requirements are, and what they begin with. */
export function readGraph(section: Section): { readonly graph?: GraphSettings } {
  section.closed(configurationKeys.graph);
  const folder = section.text('folder', 'the path of a folder');
  const load = section.names('load', 'a list of JSON files') ?? [];
  return folder === null && load.length === 0 ? {} : { graph: { folder, load } };
}
