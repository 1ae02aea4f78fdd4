import { describe, expect, it } from '@jest/globals';
import {
  conversationHeaders,
  conversationId,
  conversationMembers,
  endpointOf,
  readRequest,
  type ModelRequest,
} from '@sluice/proxy';

const paths = {
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  gemini: '/v1beta/models/m:generateContent',
  bedrock: '/model/m/converse',
} as const;

function read(path: keyof typeof paths, body: object): ModelRequest {
  const endpoint = endpointOf('POST', paths[path]);
  const request = endpoint === null ? null : readRequest(endpoint, JSON.stringify(body));
  if (request === null) throw new Error('It cannot be read.');
  return request;
}

const reminder = '<system-reminder>Use weather_tool for files</system-reminder>';
const user = (content: unknown): object => ({ role: 'user', content });
const mark = { cache_control: { type: 'ephemeral' } };
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

describe('what a conversation begins with', () => {
  const plain = read('anthropic', { messages: [user('Fix  the bug\n')] });

  it.each([
    ['as blocks', [{ type: 'text', text: 'Fix the bug' }]],
    ['with a mark for the cache', [{ type: 'text', text: 'Fix the bug', ...mark }]],
    [
      'behind a reminder',
      [
        { type: 'text', text: reminder },
        { type: 'text', text: 'Fix the bug', ...mark },
      ],
    ],
    ['around a reminder', `Fix the${reminder} bug`],
  ])('is the same %s', (_, content) => {
    expect(read('anthropic', { messages: [user(content)] }).firstSaid).toEqual(plain.firstSaid);
  });

  it('is another where the person said something else, or showed another picture', () => {
    const withPicture = (block: object): ModelRequest =>
      read('anthropic', { messages: [user([{ type: 'text', text: 'Fix the bug' }, block])] });
    const shown = withPicture(picture).firstSaid;
    expect(shown).not.toEqual(plain.firstSaid);
    expect(withPicture({ ...picture, ...mark, id: 'x' }).firstSaid).toEqual(shown);
    expect(withPicture({ ...picture, source: { ...picture.source, data: 'BBBB' } }).firstSaid).not.toEqual(shown);
  });

  it.each([
    ['responses', { input: 'Fix the bug' }],
    [
      'responses',
      {
        input: [
          { role: 'developer', content: 'x' },
          { type: 'message', ...user('<environment_context>Today is Friday</environment_context>') },
          { type: 'message', id: 'i', ...user([{ type: 'input_text', text: 'Fix the bug' }]) },
        ],
      },
    ],
    ['chat', { messages: [{ role: 'system', content: 'Be brief' }, user('Fix the bug')] }],
    ['gemini', { contents: [{ role: 'user', parts: [{ text: 'Fix the bug' }] }] }],
    ['bedrock', { messages: [user([{ text: 'Fix the bug' }, { cachePoint: { type: 'default' } }])] }],
  ] as const)('is read of %s, the first message in which a person said something', (path, body) => {
    expect(read(path, body).firstSaid).toEqual({ text: 'Fix the bug', images: [] });
  });
});

describe('the question', () => {
  const history = [
    user([
      { type: 'text', text: reminder },
      { type: 'text', text: 'What is the weather?' },
    ]),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get_weather', input: {} }] },
  ];

  it('is what the person asked last, whatever results and reminders stand behind it', () => {
    const results = [
      { type: 'tool_result', tool_use_id: 'a', content: 'Sunny' },
      { type: 'text', text: reminder },
    ];
    expect(read('anthropic', { messages: [...history, user(results)] }).question).toBe('What is the weather?');
    expect(read('anthropic', { messages: [...history, user(results), user(`And mail? ${reminder}`)] }).question).toBe(
      'And mail?',
    );
  });

  it('is not what instructions in the middle of a conversation say', () => {
    const messages = [...history.slice(0, 1), { role: 'system', content: 'Agent types: files, mail' }];
    expect(read('anthropic', { messages }).question).toBe('What is the weather?');
    expect(read('anthropic', { messages }).decoded.query).toContain('What is the weather?');
    expect(read('anthropic', { messages: messages.toReversed() }).firstSaid).toEqual(
      read('anthropic', { messages }).firstSaid,
    );
  });

  it('is what stands there where no person said anything', () => {
    expect(read('anthropic', { messages: [user(reminder)] }).question).toBe(reminder);
  });

  it('knows the tools that were used, those without a result too', () => {
    expect(read('anthropic', { messages: history }).used).toEqual(new Set(['get_weather']));
  });
});

describe('the client’s own id of a conversation', () => {
  const none = (): undefined => undefined;

  it.each(conversationHeaders)('is that of the header %s', (name) => {
    expect(conversationId('{}', (wanted) => (wanted === name ? 'c-1' : undefined))).toBe('c-1');
  });

  it.each(conversationMembers)('is that of the member %s, in the body or its metadata', (name) => {
    expect(conversationId(JSON.stringify({ [name]: 'c-1' }), none)).toBe('c-1');
    expect(conversationId(JSON.stringify({ metadata: { [name]: 'c-1' } }), none)).toBe('c-1');
  });

  it.each(['user_abc_account__session_0f3c2a10-1111', '{"device_id":"d","session_id":"0f3c2a10-1111"}'])(
    'is that of Claude Code: %s',
    (user_id) => {
      expect(conversationId(JSON.stringify({ metadata: { user_id } }), none)).toBe('0f3c2a10-1111');
    },
  );

  it.each([
    '{}',
    '{"metadata":{"user_id":"ann"}}',
    '{"session_id":""}',
    '{"session_id":7}',
    JSON.stringify({ session_id: 'x'.repeat(2_000) }),
  ])('is none in %s', (body) => {
    expect(conversationId(body, none)).toBeNull();
  });
});
