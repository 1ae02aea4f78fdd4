import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

const statement = z.strictObject({
  subject: z
    .string()
    .min(1)
    .max(500)
    .describe('What the statement is about: the name of an entity, existing or new, or an absolute IRI.'),
  predicate: z
    .string()
    .min(1)
    .max(500)
    .describe('The relation, for example "capital" or "is written in", or an absolute IRI.'),
  object: z
    .union([z.string(), z.number(), z.boolean()])
    .describe(
      'The value. A text that is the name of an existing entity (or of a subject added in this call), or an absolute IRI, means that entity; ' +
        'any other text, a number or a boolean is a plain value. To write a plain text that is also an entity’s name, put it in double quotes.',
    ),
});
const statements = z.array(statement).max(100);

export const graphUpdate = defineTool({
  type: 'graph-update',
  description:
    'Add statements to the knowledge graph, or remove them. To change a value, remove the old statement and add the new one in one call. ' +
    'Example: { "add": [{ "subject": "Sluice", "predicate": "is written in", "object": "TypeScript" }] }.',
  shortDescription:
    'Add facts to the knowledge graph or remove them, when something new was learned or a stored fact is wrong.',
  category: 'graph',
  input: z.object({
    add: statements.optional().describe('Statements to add, at most 100.'),
    remove: statements.optional().describe('Statements to remove, exactly as they are; at most 100.'),
  }),
  output: z.object({ added: z.int().nonnegative(), removed: z.int().nonnegative(), already_done: z.boolean() }),
  effect: 'state_change',
  redaction: { fields: ['added', 'removed', 'already_done'] },
  capabilities: ['knowledge', 'idempotency', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ add = [], remove = [] }, _context, { knowledge, idempotency, cancellation }) => {
    if (add.length + remove.length === 0) {
      throw new ToolUserError('Say what to change: give at least one statement under add or remove.');
    }
    const { added, removed, alreadyDone } = await knowledge.change(
      { add, remove },
      idempotency.key,
      cancellation.signal,
    );
    return { added, removed, already_done: alreadyDone };
  },
});
