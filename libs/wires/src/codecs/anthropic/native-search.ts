import type { NativeSearchKind } from '@sluice/core';
import type { NativeSearch, NativeSearchWish, NoNativeSearch } from '../../native-search.js';
import { isFrom } from '../version.js';

/** Sonnet and Opus from 4.5 on. */
export function nativeSearch(model: string, { kind, isSure }: NativeSearchWish): NativeSearch | NoNativeSearch {
  if (!isSure && !isRecentClaude(model)) return 'unsupported_model';
  return { tool: toolOf(kind), betaHeader: 'advanced-tool-use-2025-11-20', betaInBody: null };
}

/** The same over Bedrock: by InvokeModel alone, and by regular expressions alone. */
export function nativeSearchOverBedrock(
  model: string,
  { isSure }: Pick<NativeSearchWish, 'isSure'>,
): NativeSearch | NoNativeSearch {
  if (!isSure && !isRecentClaude(model)) return 'unsupported_model';
  return { tool: toolOf('regex'), betaHeader: null, betaInBody: 'tool-search-tool-2025-10-19' };
}

function toolOf(kind: NativeSearchKind): string {
  return `{"type":"tool_search_tool_${kind}_20251119","name":"tool_search_tool_${kind}"}`;
}

function isRecentClaude(model: string): boolean {
  const [, major = '', minor = ''] = /claude-(?:sonnet|opus)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return isFrom(major, minor, 4, 5);
}
