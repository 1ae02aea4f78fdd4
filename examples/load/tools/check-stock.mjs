// Quick, and fails for some: an article that ends in 7 is not known, and for one that ends in 3 the tool itself is
// broken.
export default ({ defineTool, z, ToolUserError }) =>
  defineTool({
    type: 'check_stock',
    description: 'Check the stock of an article. Example: { "article": 120 }.',
    input: z.object({ article: z.number().int().positive().describe('The number of the article.') }),
    output: z.object({ article: z.number().int(), in_stock: z.number().int() }),
    effect: 'read_only',
    redaction: { fields: ['article', 'in_stock'] },
    capabilities: [],
    repeatable: true,
    requiresConnection: false,
    execute: async ({ article }) => {
      if (article % 10 === 7) throw new ToolUserError(`There is no article ${article}. Give another number.`);
      if (article % 10 === 3) throw new Error('The shelves have fallen over.');
      return { article, in_stock: (article * 31) % 100 };
    },
  });
