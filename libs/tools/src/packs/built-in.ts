import type { OwnContract } from '../contract.js';
import { agent } from './agent.js';
import { getCurrentTime } from './get-current-time.js';
import { graphUpdate } from './graph-update.js';
import { knowledgeQuery } from './knowledge-query.js';
import { markComplete } from './mark-complete.js';
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
  ...workspaceTools,
  ...todoTools,
]);
