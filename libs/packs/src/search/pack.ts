import { querySimilarRequirements } from './tools/query-similar-requirements.js';
import { webSearch } from './tools/web-search.js';

/** Search on the web (D-T21) and in the graph (D-T22). */
export const searchTools = [webSearch, querySimilarRequirements] as const;
