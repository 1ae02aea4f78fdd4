import type { OwnContract } from '../contract.js';
import { agent } from './agent.js';
import { cacheTools } from './cache/pack.js';
import { citationTools } from './citation/pack.js';
import { documentTools } from './document/pack.js';
import { getCurrentTime } from './get-current-time.js';
import { graphTools } from './graph/pack.js';
import { graphUpdate } from './graph-update.js';
import { knowledgeQuery } from './knowledge-query.js';
import { loadToolset } from './load-toolset.js';
import { markComplete } from './mark-complete.js';
import { plan } from './plan.js';
import { searchForTools } from './search-for-tools.js';
import { searchTools } from './search/pack.js';
import { textCompletion } from './text-completion.js';
import { todoTools } from './todo/pack.js';
import { workspaceTools } from './workspace/pack.js';

/** The tool types that come with Sluice: contracts only, bound by each service that runs them. */
export const builtInTools: readonly OwnContract[] = Object.freeze([
  getCurrentTime,
  knowledgeQuery,
  graphUpdate,
  textCompletion,
  markComplete,
  agent,
  loadToolset,
  searchForTools,
  plan,
  ...workspaceTools,
  ...todoTools,
  ...documentTools,
  ...searchTools,
  ...citationTools,
  ...cacheTools,
  ...graphTools,
]);
