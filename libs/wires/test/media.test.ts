import { describe, expect, it } from '@jest/globals';
import { encodeRequest, type MediaPart, type WireName, wireNames, type WireRequest } from '@sluice/wires';

const image: MediaPart = { type: 'media', mediaType: 'image/jpeg', data: 'aW1hZ2U=', name: 'a.jpeg' };
const pdf: MediaPart = { type: 'media', mediaType: 'application/pdf', data: 'cGRm', name: 'my  report_1.pdf' };
const request: WireRequest = {
  model: 'm',
  instructions: '',
  messages: [
    { role: 'user', parts: [{ type: 'text', text: 'What is this?' }, image, pdf] },
    {
      role: 'assistant',
      parts: [
        { type: 'call', toolCallId: 'c1', name: 'draw', args: '{}' },
        { type: 'call', toolCallId: 'c2', name: 'find', args: '{}' },
      ],
    },
    {
      role: 'user',
      parts: [
        { type: 'result', toolCallId: 'c1', name: 'draw', text: 'Drawn.', isError: false, media: [image, pdf] },
        { type: 'result', toolCallId: 'c2', name: 'find', text: 'Found.', isError: false },
      ],
    },
  ],
  tools: [],
  toolChoice: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  stopSequences: [],
  stream: false,
};

const imageUrl = 'data:image/jpeg;base64,aW1hZ2U=';
const pdfUrl = 'data:application/pdf;base64,cGRm';

const chatMedia = [
  { type: 'image_url', image_url: { url: imageUrl } },
  { type: 'file', file: { filename: 'my  report_1.pdf', file_data: pdfUrl } },
];
const responsesMedia = [
  { type: 'input_image', image_url: imageUrl, detail: 'auto' },
  { type: 'input_file', filename: 'my  report_1.pdf', file_data: pdfUrl },
];
const anthropicMedia = [
  { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'aW1hZ2U=' } },
  {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
    title: 'my  report_1.pdf',
  },
];
const geminiMedia = [
  { inlineData: { mimeType: 'image/jpeg', data: 'aW1hZ2U=' } },
  { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
];
const bedrockMedia = [
  { image: { format: 'jpeg', source: { bytes: 'aW1hZ2U=' } } },
  { document: { format: 'pdf', name: 'my-report-1-pdf', source: { bytes: 'cGRm' } } },
];

const anthropic = [
  { role: 'user', content: [{ type: 'text', text: 'What is this?' }, ...anthropicMedia] },
  {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 'c1', name: 'draw', input: {} },
      { type: 'tool_use', id: 'c2', name: 'find', input: {} },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'Drawn.' }, ...anthropicMedia] },
      { type: 'tool_result', tool_use_id: 'c2', content: 'Found.' },
    ],
  },
];

/** The documented forms: where a wire’s results are text alone, their media follow as the user’s. */
const expected: Readonly<Record<WireName, unknown>> = {
  'openai-chat': [
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, ...chatMedia] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'draw', arguments: '{}' } },
        { id: 'c2', type: 'function', function: { name: 'find', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'Drawn.' },
    { role: 'tool', tool_call_id: 'c2', content: 'Found.' },
    { role: 'user', content: [{ type: 'text', text: 'From the result of draw (c1):' }, ...chatMedia] },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, ...responsesMedia] },
    { type: 'function_call', call_id: 'c1', name: 'draw', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'find', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [{ type: 'input_text', text: 'Drawn.' }, ...responsesMedia],
    },
    { type: 'function_call_output', call_id: 'c2', output: 'Found.' },
  ],
  anthropic,
  'bedrock-anthropic': anthropic,
  gemini: [
    { role: 'user', parts: [{ text: 'What is this?' }, ...geminiMedia] },
    {
      role: 'model',
      parts: [
        {
          thoughtSignature: 'skip_thought_signature_validator',
          functionCall: { id: 'c1', name: 'draw', args: {} },
        },
        { functionCall: { id: 'c2', name: 'find', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 'draw', response: { output: 'Drawn.' } } },
        { functionResponse: { id: 'c2', name: 'find', response: { output: 'Found.' } } },
        { text: 'From the result of draw (c1):' },
        ...geminiMedia,
      ],
    },
  ],
  bedrock: [
    { role: 'user', content: [{ text: 'What is this?' }, ...bedrockMedia] },
    {
      role: 'assistant',
      content: [
        { toolUse: { toolUseId: 'c1', name: 'draw', input: {} } },
        { toolUse: { toolUseId: 'c2', name: 'find', input: {} } },
      ],
    },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'c1', content: [{ text: 'Drawn.' }, ...bedrockMedia] } },
        { toolResult: { toolUseId: 'c2', content: [{ text: 'Found.' }] } },
      ],
    },
  ],
};

/** Where the messages stand in a body. */
const listIn: Readonly<Record<WireName, string>> = {
  'openai-chat': 'messages',
  'openai-responses': 'input',
  anthropic: 'messages',
  'bedrock-anthropic': 'messages',
  gemini: 'contents',
  bedrock: 'messages',
};

describe.each(wireNames)('images and files on %s', (wire) => {
  it('are sent with a question and in a result as its API documents it', () => {
    const { body, dropped } = encodeRequest(wire, request);
    expect((JSON.parse(body) as Record<string, unknown>)[listIn[wire]]).toEqual(expected[wire]);
    expect(dropped).toEqual([]);
  });

  it('have the mark of the cache behind them where one is asked for', () => {
    const tools = [{ name: 'draw', description: '', inputSchema: { type: 'object' } }];
    const { body } = encodeRequest(wire, { ...request, tools }, { cachePrefix: true, cacheHistory: true });
    const marks = body.match(/cache_control|cachePoint/g) ?? [];
    const isMarked = wire === 'anthropic' || wire === 'bedrock-anthropic' || wire === 'bedrock';
    expect(marks.length).toBe(isMarked ? (wire === 'bedrock' ? 2 : 3) : 0);
    expect(body).not.toContain('undefined');
  });
});
