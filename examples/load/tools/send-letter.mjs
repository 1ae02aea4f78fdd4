// Is felt outside, or would be: it needs an approval, and a lost answer is not repeated.
export default ({ defineTool, z }) =>
  defineTool({
    type: 'send_letter',
    description: 'Send the letter to a customer. Example: { "to": "customer 12" }.',
    input: z.object({ to: z.string().min(1).max(200).describe('To whom, by name.') }),
    output: z.object({ sent: z.boolean() }),
    effect: 'external_side_effect',
    redaction: { fields: ['sent'] },
    capabilities: ['idempotency'],
    repeatable: false,
    requiresConnection: false,
    execute: async () => ({ sent: true }),
  });
