import type { StreamEncoder, TurnHead } from '../../codec.js';
import { writeJson, type Writable } from '../../json/json-text.js';
import { awsFrame } from '../../stream/frames.js';
import { type TurnPart } from '../../types.js';
import { echoed } from '../dropped.js';
import { words } from './finish.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

export function streamEncoder(_head: TurnHead): StreamEncoder {
  let contentBlockIndex = -1;
  let open: TurnPart['type'] | null = null;
  const frame = (type: string, value: Writable) => awsFrame(type, writeJson(value));
  const close = (): readonly Uint8Array[] => {
    if (open === null) return [];
    open = null;
    return [frame('contentBlockStop', { contentBlockIndex })];
  };
  const delta = (value: Writable) => frame('contentBlockDelta', { contentBlockIndex, delta: value });
  const begin = (type: TurnPart['type']): readonly Uint8Array[] => {
    const before = close();
    contentBlockIndex += 1;
    open = type;
    return before;
  };
  function frames(part: TurnPart): readonly Uint8Array[] {
    switch (part.type) {
      case 'text':
        return [...(open === 'text' ? [] : begin('text')), delta({ text: part.text })];
      case 'reasoning': {
        const before = open === 'reasoning' ? [] : begin('reasoning');
        const own = echoed(part, wire) as Record<string, Writable>;
        const thought =
          part.text === '' && own['redactedContent'] !== undefined
            ? []
            : [delta({ reasoningContent: { text: part.text } })];
        const fields = Object.entries(own).map(([name, value]) => delta({ reasoningContent: { [name]: value } }));
        return [...before, ...thought, ...fields, ...(part.echo === undefined ? [] : close())];
      }
      case 'call': {
        const before = begin('call');
        const start = { toolUse: { toolUseId: part.toolCallId, name: part.name } };
        return [
          ...before,
          frame('contentBlockStart', { start, contentBlockIndex }),
          delta({ toolUse: { input: part.args } }),
          ...close(),
        ];
      }
      case 'other':
        return [];
    }
  }
  return {
    start: () => frame('messageStart', { role: 'assistant' }),
    part: (part) => Buffer.concat(frames(part)),
    end: (reason, usage) =>
      Buffer.concat([
        ...close(),
        frame('messageStop', { stopReason: words[reason] }),
        frame('metadata', { usage: usageIn(usage), metrics: { latencyMs: 0 } }),
      ]),
  };
}
