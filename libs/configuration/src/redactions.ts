import { isJsonObject, quote, sentenceList } from '@sluice/core';
import type { JsonObject, Policy } from '@sluice/core';
import type { IdentifiedTool } from './identities.js';
import { type Allowed, withheld } from './specifications.js';

/** Keywords by which an object may have fields that `properties` does not list. */
const otherFields = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas'];

/**
 * The tools, those withheld whose redaction lets nothing through: none of its fields is one that the server declares
 * for its results. At every call nothing would be left of the result, which reads as if there was none.
 */
export function withRedactions<T extends IdentifiedTool & { readonly allowed: Allowed }>(
  tools: readonly T[],
  policy: Policy,
): readonly T[] {
  const allowedTools = new Set(policy.allowedTools);
  return tools.map((tool): T => {
    const { id, binding, allowed } = tool;
    const { redaction } = allowed.specification.spec ?? {};
    if (binding === null || redaction === undefined || 'whole' in redaction || !allowedTools.has(id)) return tool;
    const declared = declaredFields(allowed.outputSchema);
    if (declared === null || redaction.fields.some((field) => declared.includes(field))) return tool;
    const reason = `${binding.path}.redaction has ${sentenceList(redaction.fields.map(quote))}, and the results of ${quote(binding.tool)} have ${declared.length === 1 ? 'the field' : 'the fields'} ${sentenceList(declared.map(quote))}: nothing of them would leave the tool. Write some of these fields, or \`whole\`.`;
    return { ...tool, allowed: withheld(reason) };
  });
}

/** The fields that an object of this schema may have; null where others may come, or that is unknown. */
function declaredFields(schema: JsonObject | null): readonly string[] | null {
  if (schema === null || otherFields.some((keyword) => Object.hasOwn(schema, keyword))) return null;
  const { properties, additionalProperties } = schema;
  if (additionalProperties === true || isJsonObject(additionalProperties) || !isJsonObject(properties)) return null;
  const fields = Object.keys(properties);
  return fields.length === 0 ? null : fields;
}
