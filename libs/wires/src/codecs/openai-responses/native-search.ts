import type { NativeSearch, NativeSearchWish, NoNativeSearch } from '../../native-search.js';
import { isFrom } from '../version.js';

/** GPT from 5.4 on, the smallest ones left out. */
export function nativeSearch(
  model: string,
  { isSure }: Pick<NativeSearchWish, 'isSure'>,
): NativeSearch | NoNativeSearch {
  if (!isSure && !isRecentGpt(model)) return 'unsupported_model';
  return { tool: '{"type":"tool_search"}', betaHeader: null, betaInBody: null };
}

function isRecentGpt(model: string): boolean {
  const [, major = '', minor = '', kind = ''] = /^gpt-(\d{1,2})(?:\.(\d{1,2}))?(-nano)?(?!\d)/.exec(model) ?? [];
  return kind === '' && isFrom(major, minor, 5, 4);
}
