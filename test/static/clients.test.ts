import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openApi } from '../../apps/gateway/src/openapi/document.js';
import { operations } from '../../apps/gateway/src/openapi/operations.js';
import { Sluice } from '../../packages/client/src/client.js';
import { generate } from '../../packages/generate/main.js';
import { pythonCalls } from '../../packages/generate/python-calls.js';
import { modelsOfRecords } from '../../packages/generate/python.js';
import { typeScriptCalls } from '../../packages/generate/typescript-calls.js';
import { importsOf } from '../arrows.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the clients', () => {
  it('have the types of the gateway as it is: run `npm run generate` after a change', () => {
    expect(JSON.parse(read('schemas/openapi.json'))).toEqual(openApi());
    for (const [path, text] of Object.entries(generate(join(root, 'schemas'))))
      expect([path, existsSync(join(root, 'packages', path)) && read(`packages/${path}`) === text]).toEqual([
        path,
        true,
      ]);
  });

  it('have fields with names that Python takes for itself under those names with an underscore', () => {
    const fields = [
      { name: 'list', type: 'Items', doc: 'All.' },
      { name: 'from', type: 'string', doc: 'Whence.', default: '' },
      { name: 'others', type: { type: 'array', items: 'string' }, doc: 'More.', default: [] },
    ];
    expect(modelsOfRecords([{ name: 'Order', fields }])).toContain(
      [
        '    list_: Items = Field(alias="list", description="All.")',
        '    from_: str = Field(default="", alias="from", description="Whence.")',
        '    others: list[str] = Field(default_factory=list, description="More.")',
      ].join('\n'),
    );
  });

  const methods = operations.flatMap(({ client }) => client ?? []);

  it.each(methods)('both have %s', (method) => {
    const [resource = '', name = ''] = method.split('.');
    const client = new Sluice({ url: 'http://127.0.0.1:1' }) as unknown as Record<string, Record<string, unknown>>;
    expect(typeof client[resource]?.[name]).toBe('function');
    const snake = (camel: string): string => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const python = ['_async', '_resources']
      .map((file) => read(`packages/client-python/src/sluice_client/${file}.py`))
      .join('\n');
    const [, type = ''] = new RegExp(`self\\.${snake(resource)} = (\\w+)\\(transport\\)`).exec(python) ?? [];
    const membersOf = (of: string): string => {
      const [, , base, members = ''] =
        new RegExp(`^class ${of}(\\((\\w+)\\))?:\\n((?:    .*\\n|\\n)*)`, 'm').exec(python) ?? [];
      return base === undefined ? members : members + membersOf(base);
    };
    expect(membersOf(type)).toMatch(new RegExp(`^    (?:async )?def ${snake(name)}\\(`, 'm'));
  });

  it('get what only asks from the description: a page, what must be given, and a method that is sent again', () => {
    const answer = (name: string) => ({ content: { 'application/json': { schema: { $ref: `#/schemas/${name}` } } } });
    const text = { type: 'string' } as const;
    const description = {
      paths: {
        '/v1/shops/{shop_id}/orders': {
          get: {
            ...{ operationId: 'listOrders', summary: 'List orders', 'x-sluice-client': { method: 'shops.orders' } },
            parameters: [
              { name: 'shop_id', in: 'path', required: true, description: '', schema: text },
              { name: 'day', in: 'query', required: true, description: '', schema: text },
              { name: 'cursor', in: 'query', description: '', schema: text },
            ],
            responses: { 200: answer('OrderList') },
          },
        },
        '/v1/orders': {
          post: {
            ...{ operationId: 'order', summary: 'Order', 'x-sluice-client': { method: 'shops.order' } },
            ...{ requestBody: answer('Order'), responses: { 202: answer('Order') } },
          },
        },
      },
      components: {
        schemas: {
          Order: { properties: { id: text } },
          OrderList: {
            properties: { orders: { type: 'array', items: { $ref: '#/schemas/Order' } }, next_cursor: text },
          },
        },
      },
    } as const;
    const typescript = typeScriptCalls(description);
    expect(typescript).toContain('orders(shopId: string, day: string, options: CallOptions = {}): Pages<Order> {');
    expect(typescript).toContain('path: `/v1/shops/${encodeURIComponent(shopId)}/orders`, query: { day, cursor }');
    expect(typescript).toContain("method: 'POST', path: '/v1/orders', body, isRepeatable: false");
    expect(typescript).toContain('this.shops = new Shops(transport);');
    const python = pythonCalls(description);
    expect(python).toContain('def orders(self, shop_id: str, day: str) -> AsyncPages[models.Order]:');
    expect(python).toContain('async def order(self, request: models.Order) -> models.Order:');
    expect(python).toContain('method="POST", body=body_of(request), repeatable=False');
    const { get } = description.paths['/v1/shops/{shop_id}/orders'];
    const without = { ...get, responses: { 200: { content: {} } } };
    expect(() => pythonCalls({ ...description, paths: { '/a': { get: without } } as never })).toThrow(
      /answers no JSON/,
    );
  });

  it('use nothing of the project, so that a package stands alone', () => {
    const files = globSync('packages/client/src/**/*.ts', { cwd: root });
    expect(files.length).toBeGreaterThan(8);
    const outside = files.flatMap((path) =>
      importsOf(read(path))
        .filter((from) => !/^(\.{1,2}\/|node:crypto$|kafkajs$|@kafkajs\/confluent-schema-registry$)/.test(from))
        .map((from) => `${path}: ${from}`),
    );
    expect(outside).toEqual([]);
    const http = files.filter((path) => !/\/(kafka|generated)\//.test(path));
    expect(http.filter((path) => /from '(node:|kafkajs|@kafkajs)|\b(?:Buffer|process)\b/.test(read(path)))).toEqual([]);
  });
});
