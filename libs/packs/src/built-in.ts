import type { OwnContract } from '@sluice/tools';
import type { CitationCapability } from './citation/capability.js';
import type { DocumentCapability } from './document/capability.js';
import type { GraphCapability } from './graph/capability.js';
import type { RequirementCapability } from './requirement/capability.js';
import type { WebCapability } from './web/capability.js';
import { agent } from './general/agent.js';
import { cacheTools } from './requirement/pack.js';
import { citationTools } from './citation/pack.js';
import { documentTools } from './document/pack.js';
import { getCurrentTime } from './general/get-current-time.js';
import { graphTools } from './graph/pack.js';
import { graphUpdate } from './knowledge/tools/graph-update.js';
import { knowledgeQuery } from './knowledge/tools/knowledge-query.js';
import { loadToolset } from './general/load-toolset.js';
import { markComplete } from './general/mark-complete.js';
import { plan } from './general/plan.js';
import { readResult } from './general/read-result.js';
import type { ResultCapability } from './general/result-capability.js';
import { searchForTools } from './general/search-for-tools.js';
import { searchTools } from './search/pack.js';
import { textCompletion } from './general/text-completion.js';
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
  readResult,
  ...workspaceTools,
  ...todoTools,
  ...documentTools,
  ...searchTools,
  ...citationTools,
  ...cacheTools,
  ...graphTools,
]);

/** What their packs declare that tools may be given, beside what every tool may. */
export type PackCapabilities = CitationCapability &
  DocumentCapability &
  GraphCapability &
  RequirementCapability &
  ResultCapability &
  WebCapability;
