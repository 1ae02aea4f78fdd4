import { describe, expect, test } from '@jest/globals';
import { parseExactJson } from '@sluice/core';
import {
  type Body,
  decodeRequest,
  editRequest,
  hasNativeSearch,
  readBody,
  toolTexts,
  type WireName,
} from '@sluice/wires';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const wires: readonly WireName[] = ['openai-chat', 'openai-responses', 'anthropic'];

function listOf(wire: WireName, mark: string, count = 40): string {
  const tools = Array.from({ length: count }, (_, at) => {
    const [name, description] = [`tool_${mark}_${String(at)}`, `Does “${mark}” {[\\"${String(at)}\\"]}, and 1.0`];
    const schema = '{ "type":"object","properties":{"x":{"type":"number","maximum":1.50}} }';
    const cached = at === 7 ? ', "cache_control":{"type":"ephemeral"}' : '';
    if (wire === 'openai-chat')
      return `{"type":"function","function":{"name":"${name}","description":"${description}","parameters":${schema}}}`;
    if (wire === 'anthropic')
      return `{"name":"${name}", "description":"${description}","input_schema":${schema}${cached}}`;
    return `{"type":"function","name":"${name}","description":"${description}","parameters":${schema},"more":1}`;
  });
  return `[ ${tools.join(' , ')}\n]`;
}

const said = '"messages":[{"role":"user","content":"Hello"}],"input":"Hello"';

/** What all looks at a body give. */
function looks(wire: WireName, body: Body) {
  const decoded = decodeRequest(wire, body, { model: 'm', stream: false });
  const texts = toolTexts(wire, body);
  const kept = new Set(texts.filter((_, at) => at % 9 === 2).map(({ name }) => name));
  const searchTool = { name: 'search', description: 'Finds tools', inputSchema: { type: 'object' } };
  const edit = { keepTool: (name: string) => kept.has(name), leadTools: [searchTool], moveCacheMarks: true };
  const { query, beyond, tools } = decoded;
  return { query, beyond, tools, texts, edited: editRequest(wire, body, edit) };
}

describe('A list of tools that clients repeat', () => {
  test.each(wires)('is read as it was read the first time, whatever stands around it (%s)', async (wire) => {
    const list = listOf(wire, `seen-${wire}`);
    const around = (tools: string): readonly string[] => [
      `{"model":"m",${said},"tools":${tools}}`,
      ` {"tools" :\n${tools} , "model":"m", ${said}, "beyond": {"tools":[]} } `,
      `{"metadata":{"tools":${tools}},"model":"m",${said},"tools":${tools},"top":1}`,
      `{"model":"m","tools":[],${said},"tools":${tools}}`,
      `{"model":"m","tools":${tools},${said},"tools":[]}`,
    ];
    // Another list of the same length in its place is never found, so these are read whole.
    const fresh = around(list).map((body, at) => {
      const other = body.replaceAll(`seen-${wire}`, `new${String(at)}-${wire}`);
      return JSON.parse(
        JSON.stringify(looks(wire, other)).replaceAll(`new${String(at)}-${wire}`, `seen-${wire}`),
      ) as unknown;
    });
    await turn();
    looks(wire, around(list)[0] ?? '');
    for (const [at, body] of around(list).entries()) {
      await turn();
      expect(JSON.parse(JSON.stringify(looks(wire, body)))).toEqual(fresh[at]);
      const root = readBody(body);
      const value = parseExactJson(body) as Readonly<Record<string, unknown>>;
      for (const name of Object.keys(value)) expect(root.member(name)?.value).toEqual(value[name]);
      for (const member of root.members)
        expect(root.text.startsWith(JSON.stringify(member.name), member.start)).toBe(true);
      expect(root.source).toBe(body.trim());
      expect(looks(wire, body)).toEqual(looks(wire, Buffer.from(body)));
      expect(hasNativeSearch(root)).toBe(false);
    }
  });

  test('gives its tools as the same objects', async () => {
    const list = listOf('openai-chat', 'same');
    const of = (question: string) =>
      decodeRequest('openai-chat', `{"model":"${question}","messages":[],"tools":${list}}`);
    const first = of('one');
    await turn();
    expect(of('two').tools).toBe(first.tools);
    expect(of('three').model).toBe('three');
  });

  test.each([
    ['its body breaks off behind it', (list: string) => `{"model":"m","tools":${list}`],
    ['its body is no JSON before it', (list: string) => `{"model":m,"tools":${list}}`],
    ['it stands in a text', (list: string) => `{"model":"m","a":"\\"tools":${list}"}`],
    ['it has a comma too many behind it', (list: string) => `{"tools":${list},}`],
    ['more follows the body', (list: string) => `{"tools":${list}}]`],
    ['its brackets go on', (list: string) => `{"tools":${list}]}`],
  ])('is no excuse where %s', async (_, bodyOf) => {
    const list = listOf('openai-chat', 'broken');
    readBody(`{"tools":${list}}`);
    await turn();
    expect(() => readBody(bodyOf(list))).toThrow(SyntaxError);
    expect(() => readBody(Buffer.from(bodyOf(list)))).toThrow(SyntaxError);
    const other = listOf('openai-chat', 'never-seen');
    expect(() => readBody(bodyOf(other))).toThrow(SyntaxError);
    expect(() => readBody(Buffer.from(bodyOf(other)))).toThrow(SyntaxError);
  });

  test('is forgotten when many others have come since', async () => {
    const bodyOf = (mark: string): string => `{"model":"m","messages":[],"tools":${listOf('openai-chat', mark)}}`;
    const first = decodeRequest('openai-chat', bodyOf('old'));
    for (let at = 0; at < 40; at++) decodeRequest('openai-chat', bodyOf(`other-${String(at)}`));
    await turn();
    const again = decodeRequest('openai-chat', bodyOf('old'));
    expect(again.tools).not.toBe(first.tools);
    expect(again.tools).toEqual(first.tools);
  });
});
