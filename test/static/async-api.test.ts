import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import avsc from 'avsc';
import { allTopics } from '@sluice/contracts';
import { notificationEvents } from '@sluice/core';
import { asyncApi } from '../../apps/sluice/src/async-api.js';

interface Described {
  readonly channels: Readonly<Record<string, { readonly address: string | null; readonly messages: object }>>;
  readonly operations: Readonly<Record<string, { readonly summary: string }>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly schema: avsc.Schema }>> };
}

const described = asyncApi() as Described;

describe('the description of the topics', () => {
  it('is the one in schemas/: run `npm run generate` after a change', () => {
    const file = join(import.meta.dirname, '../../schemas/asyncapi.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(described);
  });

  it('is AsyncAPI 3.0, by the schema of the specification', () => {
    const specified = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json') as object;
    const ajv = new Ajv({ meta: false, validateSchema: false, strict: false, validateFormats: false });
    const validate = ajv.compile(specified);
    validate(described);
    expect(validate.errors).toBeNull();
    expect(validate({ ...described, channels: { 'agent.requests': { address: 7 } } })).toBe(false);
  });

  it('has a channel for each topic and one for webhooks, and names nothing that is not there', () => {
    expect(Object.values(described.channels).map(({ address }) => address)).toEqual([...allTopics, null]);
    const webhooks = Object.keys(described.channels['webhooks']?.messages ?? {});
    expect(webhooks).toEqual(notificationEvents.map((event) => `sluice.${event}`));
    const pointers = [...JSON.stringify(described).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, at = '']) => at);
    const at = (pointer: string): unknown =>
      pointer
        .split('/')
        .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], described);
    expect(pointers.filter((pointer) => at(pointer) === undefined)).toEqual([]);
    expect(pointers.length).toBeGreaterThan(50);
  });

  it('has schemas that an Avro library reads, and sentences without links into docs/', () => {
    for (const [name, { schema }] of Object.entries(described.components.schemas))
      expect(avsc.Type.forSchema(schema).name).toBe(`sluice.${name}`);
    for (const { summary } of Object.values(described.operations)) expect(summary).toMatch(/^[^\]]+[^.]\.$/);
  });
});
