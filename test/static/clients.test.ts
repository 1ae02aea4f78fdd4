import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openApi } from '../../apps/gateway/src/openapi/document.js';
import { operations } from '../../apps/gateway/src/openapi/operations.js';
import { Sluice } from '../../packages/client/src/client.js';
import { generate } from '../../packages/generate/main.js';
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

  const methods = operations.flatMap(({ client }) => client ?? []);

  it.each(methods)('both have %s', (method) => {
    const [resource = '', name = ''] = method.split('.');
    const client = new Sluice({ url: 'http://127.0.0.1:1' }) as unknown as Record<string, Record<string, unknown>>;
    expect(typeof client[resource]?.[name]).toBe('function');
    const snake = (camel: string): string => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const python = read('packages/client-python/src/sluice_client/_async.py');
    const [, type = ''] = new RegExp(`self\\.${snake(resource)} = (\\w+)\\(transport\\)`).exec(python) ?? [];
    const [, members = ''] = new RegExp(`^class ${type}:\\n((?:    .*\\n|\\n)*)`, 'm').exec(python) ?? [];
    expect(members).toMatch(new RegExp(`^    (?:async )?def ${snake(name)}\\(`, 'm'));
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
