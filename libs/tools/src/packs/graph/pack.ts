import { checkForDuplicates } from './check-for-duplicates.js';
import { countGraphStatistics } from './count-graph-statistics.js';
import { createFulfillmentRelationship } from './create-fulfillment-relationship.js';
import { createRequirementNode } from './create-requirement-node.js';
import { executeCypherQuery } from './execute-cypher-query.js';
import { findSimilarRequirements } from './find-similar-requirements.js';
import { generateRequirementId } from './generate-requirement-id.js';
import { getDatabaseSchema } from './get-database-schema.js';
import { getEntityRelationships } from './get-entity-relationships.js';
import { resolveBusinessObject } from './resolve-business-object.js';
import { resolveMessage } from './resolve-message.js';
import { validateSchemaCompliance } from './validate-schema-compliance.js';

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
