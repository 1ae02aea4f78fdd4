import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import avsc from 'avsc';
import { generate } from '../generate.js';
import {
  createCodec,
  make,
  payloadBytes,
  recordFromJson,
  recordNames,
  recordToJson,
  selfContained,
  topics,
} from '@sluice/contracts';
import type { AgentRequest, SchemaRegistry } from '@sluice/contracts';
import { typeOf } from '../src/codec.js';

const root = join(import.meta.dirname, '../../..');

function memoryRegistry(): SchemaRegistry & { readonly known: string[] } {
  const known: string[] = [];
  return {
    known,
    register: (_subject, schema) => Promise.resolve(known.indexOf(schema) + 1 || known.push(schema)),
    find: (id) => Promise.resolve(known[id - 1]),
  };
}

function wire(id: number, body: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeInt32BE(id, 1);
  return Buffer.concat([header, body]);
}

const request = make.agentRequest({ question: 'Who?', group: [], requestId: 'r-1', sessionId: 's-1' });

describe('the generated types', () => {
  it('are what schemas/ gives today (drift)', () => {
    const files = generate(join(root, 'schemas'));
    for (const [file, text] of Object.entries(files)) {
      expect(readFileSync(join(root, 'libs', file), 'utf8')).toBe(text);
    }
  });
});

describe('compatibility of the schemas, both ways', () => {
  const released = join(root, 'libs/contracts/test/released');
  const versions = readdirSync(released).sort();

  it('has at least one released version to hold', () => expect(versions.length).toBeGreaterThan(0));

  for (const version of versions) {
    for (const file of readdirSync(join(released, version))) {
      it(`${version}/${file} reads today’s records and is read by today’s reader (G-44, G-102)`, () => {
        const old = typeOf(JSON.parse(readFileSync(join(released, version, file), 'utf8')));
        const now = typeOf(selfContained(file.replace('.avsc', '')));
        expect(() => now.createResolver(old)).not.toThrow();
        expect(() => old.createResolver(now)).not.toThrow();
      });
    }
  }
});

describe('AgentRequest', () => {
  it('has question, state, group and history, and no plan (G-29 to G-34, XG-18)', () => {
    const fields = Object.fromEntries(selfContained('AgentRequest').fields.map((field) => [field.name, field.type]));
    expect(fields).toMatchObject({
      question: 'string',
      state: ['null', 'string'],
      group: ['null', { type: 'array', items: 'string' }],
    });
    expect(fields).not.toHaveProperty('plan');
  });

  it('is read from a record that still has its plan, as Avro and as JSON (G-34, G-107)', async () => {
    const registry = memoryRegistry();
    const codec = await createCodec(registry);
    const schema = selfContained('AgentRequest');
    const old = { ...schema, fields: [...schema.fields, { name: 'plan', type: 'string' }] };
    const id = await registry.register('old', JSON.stringify(old));
    const payload = wire(id, typeOf(old).toBuffer({ ...request, plan: 'first this, then that' }));
    expect({ ...(await codec.decode(topics.requests, payload)) }).toEqual(request);
    const json = Buffer.from(
      JSON.stringify({ question: 'Who?', plan: 'x', group: [], request_id: 'r-1', session_id: 's-1' }),
    );
    expect(await codec.decode(topics.requests, json)).toEqual(request);
  });

  it('tells absent, null and empty groups apart (XG-8)', async () => {
    const codec = await createCodec(memoryRegistry());
    for (const group of [null, [], ['a']]) {
      const decoded = await codec.decode(topics.requests, codec.encode(topics.requests, { ...request, group }));
      expect(decoded.group).toEqual(group);
    }
    expect((recordFromJson('AgentRequest', { question: 'Who?' }) as AgentRequest).group).toBeNull();
  });
});

describe('payloads', () => {
  it('round-trip every topic’s record made of defaults and samples', async () => {
    const codec = await createCodec(memoryRegistry());
    const sample = codec.encode(topics.requests, request);
    expect(sample[0]).toBe(0);
    expect(sample.readInt32BE(1)).toBeGreaterThan(0);
    for (const name of Object.values(recordNames)) expect(() => typeOf(selfContained(name))).not.toThrow();
  });

  it('grow beyond the first buffer', async () => {
    const codec = await createCodec(memoryRegistry());
    const question = 'x'.repeat(300_000);
    const decoded = await codec.decode(topics.requests, codec.encode(topics.requests, { ...request, question }));
    expect(decoded.question).toHaveLength(300_000);
  });

  it('give their Avro where it is of today’s schema, and nothing else does', async () => {
    const codec = await createCodec(memoryRegistry());
    const payload = codec.encode(topics.requests, request);
    expect(codec.avro(topics.requests, payload)).toEqual(payload.subarray(5));
    const json = Buffer.from(JSON.stringify(recordToJson('AgentRequest', request)));
    for (const other of [json, wire(99, payload.subarray(5)), Buffer.from([0, 0]), Buffer.alloc(0)])
      expect(codec.avro(topics.requests, other)).toBeNull();
  });

  it.each([
    ['random bytes', Buffer.from([9, 1, 2, 3]), /neither Avro/],
    ['nothing', Buffer.alloc(0), /neither Avro/],
    ['an unknown schema number', wire(99, Buffer.from('x')), /schema 99/],
    ['Avro that is cut short', wire(1, Buffer.from([40, 65])), /cut short|not Avro/],
    ['broken JSON', Buffer.from('{"question": '), /not JSON/],
    ['JSON without a question', Buffer.from('{"state":"x"}'), /\$\.question is missing/],
    [
      'JSON with a wrong type',
      Buffer.from('{"question":"a","group":[1]}'),
      /\$\.group\[0\] must be a text, but is the number 1/,
    ],
  ])('refuse %s with a reason', async (_, payload, reason) => {
    const codec = await createCodec(memoryRegistry());
    const decode = async () => codec.decode(topics.requests, payload);
    await expect(decode()).rejects.toMatchObject({
      code: 'undecodable',
      retryable: false,
      message: expect.stringMatching(reason),
    });
  });

  it('show as JSON with the names of the wire, and back', () => {
    const json = recordToJson('AgentRequest', request);
    expect(json).toMatchObject({ request_id: 'r-1', group: [], max_iterations: null });
    expect(recordFromJson('AgentRequest', json)).toEqual(request);
  });
});

describe('the measure of a record', () => {
  it('is what its payload has, and compiles its type once', async () => {
    const codec = await createCodec(memoryRegistry());
    const compiled = jest.spyOn(avsc.Type, 'forSchema');
    const bytes = [request, { ...request, question: 'Who? €😀' }].map((record) =>
      payloadBytes(topics.requests, record),
    );
    const types = compiled.mock.calls.length;
    for (let n = 0; n < 10; n++) payloadBytes(topics.requests, request);
    expect(compiled.mock.calls.length).toBe(types);
    compiled.mockRestore();
    expect(bytes).toEqual(
      [request, { ...request, question: 'Who? €😀' }].map((record) => codec.encode(topics.requests, record).byteLength),
    );
  });
});
