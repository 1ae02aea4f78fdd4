import { describe, expect, test } from '@jest/globals';
import {
  decodeRequest,
  editRequest,
  hasNativeSearch,
  JsonSpan,
  readBody,
  toolTexts,
  type WireName,
} from '@sluice/wires';
import fc from 'fast-check';

/** A list that is shorter than this many characters is read with its body. */
const filler = 'x'.repeat(1_200);

const wires: readonly WireName[] = ['openai-chat', 'openai-responses', 'anthropic', 'bedrock', 'bedrock-anthropic'];

/** JSON text as no serialiser writes it: spaces, escapes that need not be, and names that occur twice. */
const space = fc.constantFrom('', '', ' ', '\n\t', ' \r\n ');
const escaped = (text: string): fc.Arbitrary<string> =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((each) => {
    const units = [...each].map((isEscaped, at) => {
      const unit = text.charAt(at);
      const code = text.charCodeAt(at).toString(16).padStart(4, '0');
      return isEscaped ? `\\u${code}` : JSON.stringify(unit).slice(1, -1);
    });
    return `"${units.join('')}"`;
  });
const textJson = fc.string({ unit: 'grapheme', maxLength: 8 }).chain(escaped);
const number = fc.constantFrom('0', '-0', '1.50', '1e400', '123456789012345678901', '2', '-7.25e-3');
const { value: anyJson } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    textJson,
    number,
    fc.constantFrom('true', 'false', 'null', '[]', '{}'),
    fc.tuple(space, fc.array(tie('value'), { maxLength: 3 })).map(([s, items]) => `[${s}${items.join(`${s},`)}${s}]`),
    fc
      .tuple(space, fc.array(fc.tuple(textJson, tie('value')), { maxLength: 3 }))
      .map(([s, members]) => `{${s}${members.map(([name, value]) => `${name}${s}:${value}`).join(`,${s}`)}${s}}`),
  ),
}));

const nameIn = fc.constantFrom('a', 'b', 'c', 'ü', 'naïve_💡', '"quoted"', '__proto__', 'tools');

const tool = (wire: WireName): fc.Arbitrary<string> =>
  fc
    .record({ name: nameIn.chain(escaped), twice: fc.boolean(), description: textJson, more: anyJson, s: space })
    .map(({ name, twice, description, more, s }) => {
      // Of a name that occurs twice the last counts.
      const said = `${twice ? `"name":"other",` : ''}"name"${s}:${s}${name},"description":${description}`;
      const schema = `{"type":"object","properties":{"x":${more},"__proto__":{"type":"string"}}}`;
      if (wire === 'openai-chat') return `{"type":"function",${s}"function":{${said},"parameters":${schema}}}`;
      if (wire === 'openai-responses') return `{"type":"function",${said},"parameters":${schema},"strict":null}`;
      if (wire === 'bedrock') return `{"toolSpec":{${said},"inputSchema":{"json":${schema}}}}`;
      return `{${said},${s}"input_schema":${schema}}`;
    });

/** A body with tools, some of them nested, twice, or beside others of the provider. */
const bodyOf = (wire: WireName): fc.Arbitrary<string> =>
  fc
    .record({
      tools: fc.array(tool(wire), { minLength: 1, maxLength: 6 }),
      others: fc.array(tool(wire), { maxLength: 2 }),
      before: fc.array(fc.tuple(textJson, anyJson), { maxLength: 2 }),
      place: fc.constantFrom('first', 'last', 'twice', 'nested', 'said'),
      s: space,
    })
    .map(({ tools, others, before, place, s }) => {
      const listOf = (of: readonly string[], key: string): string => {
        const list = `[${s}${of.join(`${s},${s}`)}${s}]`;
        return wire === 'bedrock' ? `"toolConfig":{"${key}"${s}:${s}${list}}` : `"${key}"${s}:${s}${list}`;
      };
      const long = (of: readonly string[]): readonly string[] => [
        ...of,
        (of[0] ?? '').replace(/"description":"/, `"description":"${filler}`),
      ];
      const own = listOf(long(tools), 'tools');
      const said = place === 'said' ? JSON.stringify(`${own} "tools":[`) : '"Hello"';
      const members = [
        ...before.map(([name, value]) => `${name}:${value}`),
        ...(place === 'twice' ? [listOf(long(others), 'tools')] : []),
        ...(place === 'nested' ? [`"metadata":{${listOf(long(others), 'tools')}}`] : []),
        wire === 'openai-responses'
          ? `"input":${said}`
          : `"messages":[{"role":"user","content":${wire === 'bedrock' ? `[{"text":${said}}]` : said}}]`,
      ];
      const all = place === 'first' ? [own, ...members] : [...members, own];
      return `${s}{${s}"model":"m",${all.join(`${s},`)}${s}}${s}`;
    });

const itemsIn = (wire: WireName, body: unknown): unknown => {
  const value = body as { readonly tools?: unknown; readonly toolConfig?: { readonly tools?: unknown } };
  return wire === 'bedrock' ? value.toolConfig?.tools : value.tools;
};

const nameOf = (wire: WireName, item: unknown): string => {
  const one = item as { readonly name: string; readonly function: { readonly name: string } };
  if (wire === 'openai-chat') return one.function.name;
  return wire === 'bedrock' ? (item as { readonly toolSpec: { readonly name: string } }).toolSpec.name : one.name;
};

describe('A request whose tools are cut out of its text', () => {
  test.each(wires)('is the same JSON as one that is written again without them (%s)', (wire) => {
    fc.assert(
      fc.property(bodyOf(wire), fc.uniqueArray(nameIn), (body, names) => {
        const kept = (name: string): boolean => (names as readonly string[]).includes(name);
        const value = JSON.parse(body) as Readonly<Record<string, unknown>>;
        const items = itemsIn(wire, value) as readonly unknown[];
        const left = items.filter((item) => kept(nameOf(wire, item)));
        // Where none is left the member goes, with what speaks of it.
        const config = { ...(value['toolConfig'] as object), tools: left };
        const expected = wire === 'bedrock' ? { ...value, toolConfig: config } : { ...value, tools: left };
        for (const given of [body, Buffer.from(body), Buffer.from(body), JsonSpan.of(body)]) {
          const edited = editRequest(wire, given, { keepTool: kept, moveCacheMarks: true });
          if (left.length > 0) expect(JSON.parse(edited)).toEqual(expected);
          else expect(itemsIn(wire, JSON.parse(edited))).toBeUndefined();
          expect(editRequest(wire, given, {})).toBe(body);
        }
      }),
      { numRuns: 60 },
    );
  });

  test.each(wires)('is read as a whole body is, whether its list came before or not (%s)', (wire) => {
    const searchTool = { name: 'search', description: 'Finds tools', inputSchema: { type: 'object' } };
    fc.assert(
      fc.property(bodyOf(wire), (body) => {
        const looks = (given: string | Buffer | JsonSpan) => {
          const { beyond, ...decoded } = decodeRequest(wire, given, { model: 'm', stream: false });
          const edit = { leadTools: [searchTool], deferTool: (name: string) => name === 'a', keepTool: () => true };
          return JSON.stringify({
            ...{ decoded, beyond: [...new Set(beyond)].sort(), texts: toolTexts(wire, given) },
            ...{ edited: editRequest(wire, given, edit), native: hasNativeSearch(readBody(given)) },
          });
        };
        const whole = looks(JsonSpan.of(body));
        expect(looks(body)).toBe(whole);
        expect(looks(Buffer.from(body))).toBe(whole);
        expect(looks(Buffer.from(body))).toBe(whole);
      }),
      { numRuns: 60 },
    );
  });

  test('is none where its bytes are no JSON, whatever is cut off or put in', () => {
    fc.assert(
      fc.property(
        bodyOf('openai-chat'),
        fc.nat(),
        fc.constantFrom('', ',', ']', '}', '"', '[', '\\', '\0'),
        (body, at, put) => {
          const place = at % body.length;
          const broken = put === '' ? body.slice(0, place) : `${body.slice(0, place)}${put}${body.slice(place)}`;
          const isJson = (() => {
            try {
              JSON.parse(broken);
              return true;
            } catch {
              return false;
            }
          })();
          readBody(Buffer.from(body));
          for (const given of [broken, Buffer.from(broken)])
            if (isJson) expect(JSON.parse(readBody(given).source)).toEqual(JSON.parse(broken));
            else expect(() => readBody(given)).toThrow(SyntaxError);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('has what is no UTF-8 in its list replaced, as in a body that is read as a whole', () => {
    const body = `{"tools":[{"name":"a","description":"${filler}#"}],"messages":[]}`;
    const bytes = Buffer.from(body);
    bytes[bytes.indexOf('#')] = 0xff;
    for (let time = 0; time < 2; time++) {
      expect(editRequest('anthropic', bytes, {})).toBe(body.replace('#', '\uFFFD'));
      expect(toolTexts('anthropic', bytes)[0]?.raw).toContain('\uFFFD');
    }
  });
});
