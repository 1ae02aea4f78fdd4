import type * as NativeSearch from './native-search.js';

/**
 * What is known of providers' own search of tools and of how they are sent them, loaded where it is first asked for:
 * the built-in model needs none of it.
 */
export const nativeSearches = (): Promise<typeof NativeSearch> => import('./native-search.js');
