import { isJsonObject, toolEffects } from '@sluice/core';
import { schemaProblems } from '@sluice/schemas';
import { z } from 'zod';
import { capabilityNames, isNetwork, openObjects } from '@sluice/tools';
import type { ToolDescription } from './messages.js';

const description = z.strictObject({
  type: z.string().regex(/^[A-Za-z0-9_-]+$/),
  description: z.string().min(1),
  shortDescription: z.string().min(1),
  category: z.string().regex(/^[A-Za-z0-9_-]+$/),
  inputSchema: z.custom<ToolDescription['inputSchema']>(isJsonObject),
  effect: z.enum(toolEffects),
  redaction: z.union([
    z.strictObject({ fields: z.array(z.string()).min(1) }),
    z.strictObject({ whole: z.literal(true) }),
  ]),
  repeatable: z.boolean(),
  requiresConnection: z.boolean(),
  capabilities: z.array(z.enum(capabilityNames as [string])),
  network: z.custom<ToolDescription['network']>(isNetwork),
  networkUses: z.array(z.string().regex(/^[A-Za-z:/_0-9]{1,40}$/)).max(40),
  closedUses: z.array(z.string().regex(/^[A-Za-z:._ ]{1,40}$/)).max(40),
  reconciles: z.boolean(),
});

/**
 * What a process says of its tool. Its own code looked at the definition, but so did the tool’s: what matters is
 * looked at again here.
 */
export function checkedDescription(said: unknown): ToolDescription {
  const parsed = description.safeParse(said);
  if (!parsed.success) throw new Error('Its process does not say what the tool is.');
  const tool = parsed.data as ToolDescription;
  const problems = [...schemaProblems(tool.inputSchema), ...openObjects(tool.inputSchema)];
  if (problems.length > 0) throw new Error(`Its process gives an input schema that cannot be. ${problems.join(' ')}`);
  return tool;
}
