import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { requirementPriorities, requirementTypes } from '../requirements.js';
import { assessGobd } from '../../document/gobd.js';
import { defineRequirementTool } from '../capability.js';

export const writeRequirementToCache = defineRequirementTool({
  type: 'write_requirement_to_cache',
  description:
    'Submit a requirement for validation, once it is complete and cited. ' +
    'It waits in the cache until a validator puts it into the graph. The same text a second time gives the entry that is there, with created false. ' +
    'Every citation must exist. Example: { "text": "The system must retain all invoice records for at least 10 years.", "name": "Invoice retention", ' +
    '"req_type": "compliance", "priority": "high", "gobd_relevant": true, "citations": ["C-0001"] }.',
  shortDescription:
    'Submit a finished requirement with its citations, so that a validator checks it and puts it into the graph.',
  category: 'cache',
  input: z.object({
    text: z.string().min(15).max(2_000).describe('The whole requirement, in one or a few sentences.'),
    name: z.string().min(3).max(80).describe('A short name, at most 80 characters.'),
    req_type: z
      .enum(requirementTypes)
      .default('functional')
      .describe('functional, compliance, constraint or non_functional.'),
    priority: z.enum(requirementPriorities).default('medium').describe('high, medium or low.'),
    gobd_relevant: z
      .boolean()
      .optional()
      .describe('Whether the GoBD apply; left out, the rules of assess_gobd_relevance decide.'),
    citations: z
      .array(z.string().max(20))
      .max(20)
      .default([])
      .describe('Ids of the citations that it rests on, such as C-0001.'),
    mentions: z
      .array(z.string().max(100))
      .max(50)
      .default([])
      .describe('Business objects and messages that it mentions.'),
  }),
  output: z.object({
    id: z.string(),
    created: z.boolean(),
    name: z.string(),
    gobd_relevant: z.boolean(),
    confirmation: z.string(),
  }),
  effect: 'state_change',
  redaction: { fields: ['id', 'created', 'name', 'gobd_relevant', 'confirmation'] },
  capabilities: ['requirements', 'citations'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ text, name, req_type, priority, gobd_relevant, citations: cited, mentions }, _context, given) => {
    const said = { text: text.trim(), name: name.replace(/\s+/g, ' ').trim() };
    if (said.name.length < 3 || said.text.length < 15)
      throw new ToolUserError('Text or name says too little. Write the whole requirement.');
    for (const id of new Set(cited)) await given.citations.get(id);
    const gobdRelevant = gobd_relevant ?? assessGobd(said.text).relevant;
    const { entry, created } = await given.requirements.submit({
      ...said,
      type: req_type,
      priority,
      gobdRelevant,
      citations: [...new Set(cited)],
      mentions: [...new Set(mentions)],
    });
    const confirmation = created
      ? `${entry.id} waits for validation.`
      : `${entry.id} was submitted before, on ${entry.submittedAt}.`;
    return { id: entry.id, created, name: entry.name, gobd_relevant: entry.gobdRelevant, confirmation };
  },
});
