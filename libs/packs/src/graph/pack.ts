import { checkForDuplicates } from './tools/check-for-duplicates.js';
import { countGraphStatistics } from './tools/count-graph-statistics.js';
import { createFulfillmentRelationship } from './tools/create-fulfillment-relationship.js';
import { createRequirementNode } from './tools/create-requirement-node.js';
import { executeCypherQuery } from './tools/execute-cypher-query.js';
import { findSimilarRequirements } from './tools/find-similar-requirements.js';
import { generateRequirementId } from './tools/generate-requirement-id.js';
import { getDatabaseSchema } from './tools/get-database-schema.js';
import { getEntityRelationships } from './tools/get-entity-relationships.js';
import { resolveBusinessObject } from './tools/resolve-business-object.js';
import { resolveMessage } from './tools/resolve-message.js';
import { validateSchemaCompliance } from './tools/validate-schema-compliance.js';

/** The graph of requirements (D-T28 to D-T39). */
export const graphTools = [
  executeCypherQuery,
  getDatabaseSchema,
  findSimilarRequirements,
  checkForDuplicates,
  resolveBusinessObject,
  resolveMessage,
  validateSchemaCompliance,
  createRequirementNode,
  createFulfillmentRelationship,
  generateRequirementId,
  getEntityRelationships,
  countGraphStatistics,
] as const;
