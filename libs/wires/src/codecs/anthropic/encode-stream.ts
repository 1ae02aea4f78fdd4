import type { StreamEncoder, TurnHead } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import { awsFrame, sseFrame } from '../../stream/frames.js';
import { noUsage, type TurnPart } from '../../types.js';
import { caller, ownMembers, reasoningOut, textOut } from './blocks.js';
import { words } from './finish.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

type Frame = (type: string, rest: Record<string, Writable>) => Uint8Array;

export const sse: Frame = (type, rest) => sseFrame(writeJson({ type, ...rest }), type);

export const chunks: Frame = (type, rest) =>
  awsFrame('chunk', JSON.stringify({ bytes: Buffer.from(writeJson({ type, ...rest })).toString('base64') }));

export function streamEncoder({ id, model, beside }: TurnHead, frame: Frame): StreamEncoder {
  const isWhole = beside !== undefined;
  let index = -1;
  let open: 'text' | 'reasoning' | null = null;
  const close = (): readonly Uint8Array[] => {
    if (open === null) return [];
    open = null;
    return [frame('content_block_stop', { index })];
  };
  const delta = (value: Writable) => frame('content_block_delta', { index, delta: value });
  const begin = (block: Writable) => {
    index += 1;
    return frame('content_block_start', { index, content_block: block });
  };
  const whole = (block: Writable, ...deltas: Writable[]) => [
    ...close(),
    begin(block),
    ...deltas.map(delta),
    frame('content_block_stop', { index }),
  ];
  function frames(part: TurnPart): readonly Uint8Array[] {
    switch (part.type) {
      case 'text': {
        const before = open === 'text' ? [] : [...close(), begin(textOut('', isWhole))];
        open = 'text';
        return [...before, delta({ type: 'text_delta', text: part.text })];
      }
      case 'reasoning': {
        const block = reasoningOut(part);
        if ('data' in block) return whole(block);
        const thought = { type: 'thinking_delta', thinking: part.text };
        // With its signature a thought is complete; without one, more of it may come.
        if (part.echo?.wire === wire)
          return whole({ type: 'thinking', thinking: '', signature: '' }, thought, {
            type: 'signature_delta',
            signature: block['signature'] as string,
          });
        const before =
          open === 'reasoning' ? [] : [...close(), begin({ type: 'thinking', thinking: '', signature: '' })];
        open = 'reasoning';
        return [...before, delta(thought)];
      }
      case 'call':
        return whole(
          { type: 'tool_use', id: part.toolCallId, name: part.name, input: {}, ...(isWhole ? { caller } : {}) },
          { type: 'input_json_delta', partial_json: part.args },
        );
      case 'other':
        return part.wire === wire ? whole(new JsonText(part.raw)) : [];
    }
  }
  return {
    start: () =>
      frame('message_start', {
        message: {
          ...{ id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null },
          ...(isWhole
            ? { ...ownMembers, usage: usageIn(noUsage, true) }
            : { usage: { input_tokens: 0, output_tokens: 0 } }),
        },
      }),
    part: (part) => Buffer.concat(frames(part)),
    end: (reason, usage) =>
      Buffer.concat([
        ...close(),
        frame('message_delta', { delta: { stop_reason: words[reason], stop_sequence: null }, usage: usageIn(usage) }),
        frame('message_stop', {}),
      ]),
  };
}
