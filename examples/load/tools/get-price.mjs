// Refuses a price that is not above 0: what a model gets wrong.
export default ({ defineTool, z }) =>
  defineTool({
    type: 'get_price',
    description: 'Get the price with tax. Example: { "price": 100 }.',
    input: z.object({ price: z.number().positive().describe('The price without tax, above 0.') }),
    output: z.object({ total: z.number() }),
    effect: 'read_only',
    redaction: { fields: ['total'] },
    capabilities: [],
    repeatable: true,
    requiresConnection: false,
    execute: async ({ price }) => ({ total: Math.round(price * 108.1) / 100 }),
  });
