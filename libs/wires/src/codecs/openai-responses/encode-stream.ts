import type { StreamEncoder, TurnHead } from '../../codec.js';
import { writeJson, type Writable } from '../../json/json-text.js';
import { sseFrame } from '../../stream/frames.js';
import type { TurnPart } from '../../types.js';
import { Dropped } from '../dropped.js';
import { outputText } from './encode-request.js';
import { endOf, outputItem, responseOf } from './encode-turn.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

export function streamEncoder(head: TurnHead): StreamEncoder {
  let sequence = 0;
  let index = -1;
  let open: { readonly type: 'text' | 'reasoning'; readonly id: string; text: string } | null = null;
  const output: Writable[] = [];
  const event = (type: string, rest: Record<string, Writable>) =>
    sseFrame(writeJson({ type, sequence_number: sequence++, ...rest }), type);
  const item = (type: 'added' | 'done', value: Writable) =>
    event(`response.output_item.${type}`, { output_index: index, item: value });
  const of = (id: string) => ({ item_id: id, output_index: index, content_index: 0 });

  const ofSummary = (id: string) => ({ item_id: id, output_index: index, summary_index: 0 });

  function close(): readonly Uint8Array[] {
    if (open === null) return [];
    const { type, id, text: said } = open;
    open = null;
    if (type === 'reasoning') {
      const part = { type: 'summary_text', text: said };
      const whole = { id, type, summary: [part] };
      output.push(whole);
      return [
        event('response.reasoning_summary_text.done', { ...ofSummary(id), text: said }),
        event('response.reasoning_summary_part.done', { ...ofSummary(id), part }),
        item('done', whole),
      ];
    }
    const part = outputText(said);
    const whole = { id, type: 'message', status: 'completed', role: 'assistant', content: [part] };
    output.push(whole);
    return [
      event('response.output_text.done', { ...of(id), text: said }),
      event('response.content_part.done', { ...of(id), part }),
      item('done', whole),
    ];
  }
  function begin(): readonly Uint8Array[] {
    const before = close();
    index += 1;
    return before;
  }
  /** The events are made in the order in which they are sent, since each takes the next number. */
  function whole(
    value: Writable,
    added: Writable,
    between: () => readonly Uint8Array[] = () => [],
  ): readonly Uint8Array[] {
    output.push(value);
    return [item('added', added), ...between(), item('done', value)];
  }
  function pieces(part: Extract<TurnPart, { type: 'text' | 'reasoning' }>): readonly Uint8Array[] {
    const before: Uint8Array[] = [];
    if (open?.type !== part.type) {
      before.push(...begin());
      const id = `${part.type === 'text' ? 'msg' : 'rs'}_${String(index)}`;
      open = { type: part.type, id, text: '' };
      if (part.type === 'text') {
        before.push(item('added', { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] }));
        before.push(event('response.content_part.added', { ...of(id), part: outputText('') }));
      } else {
        before.push(item('added', { id, type: 'reasoning', summary: [] }));
        const part = { type: 'summary_text', text: '' };
        before.push(event('response.reasoning_summary_part.added', { ...ofSummary(id), part }));
      }
    }
    const { id } = open;
    open.text += part.text;
    const delta =
      part.type === 'text'
        ? event('response.output_text.delta', { ...of(id), delta: part.text })
        : event('response.reasoning_summary_text.delta', { ...ofSummary(id), delta: part.text });
    return [...before, delta];
  }
  function frames(part: TurnPart): readonly Uint8Array[] {
    // A part with what must come back is complete as it is.
    if ((part.type === 'text' || part.type === 'reasoning') && part.echo?.wire !== wire) return pieces(part);
    const before = begin();
    const value = outputItem(part, index, new Dropped());
    if (value === null) return before;
    if (part.type !== 'call') return [...before, ...whole(value, value)];
    const id = (value as { readonly id: string }).id;
    const at = { item_id: id, output_index: index };
    const written = (): readonly Uint8Array[] => [
      event('response.function_call_arguments.delta', { ...at, delta: part.args }),
      event('response.function_call_arguments.done', { ...at, arguments: part.args }),
    ];
    const added = { ...(value as Record<string, Writable>), arguments: '', status: 'in_progress' };
    return [...before, ...whole(value, added, written)];
  }
  return {
    start: () => event('response.created', { response: responseOf(head, [], 'in_progress', {}) }),
    part: (part) => Buffer.concat(frames(part)),
    end(finish, usage, more = {}) {
      const before = close();
      const { status, incomplete_details } = endOf(finish);
      const whole = head.beside === undefined ? head : { ...head, beside: { ...head.beside, ...more } };
      const response = responseOf(whole, output, status, { incomplete_details, usage: usageIn(usage) });
      return Buffer.concat([...before, event(`response.${status === 'cancelled' ? 'failed' : status}`, { response })]);
    },
  };
}
