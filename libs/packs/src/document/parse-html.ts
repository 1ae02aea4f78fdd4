import { Parser } from 'htmlparser2';
import type { Block, ParsedDocument } from './document.js';
import { BlockBuilder } from './block-builder.js';

/** Elements whose text a page does not show. */
const unread = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'head',
  'svg',
  'math',
  'iframe',
  'object',
  'select',
]);
const dividing = new Set(
  (
    'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hr html li main nav ol p pre ' +
    'section summary table tbody td tfoot th thead tr ul h1 h2 h3 h4 h5 h6'
  ).split(' '),
);
const empty = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
]);

/**
 * The text that a reader of the page sees. No script runs and nothing is fetched; elements are a stream, so their
 * depth costs nothing.
 */
export function parseHtml(html: string, most: number): ParsedDocument {
  const builder = new BlockBuilder(most);
  let text = '';
  let kind: Omit<Block, 'start' | 'end'> = { kind: 'paragraph' };
  let pre = 0;
  let row = 0;
  /** How many elements are open within one that is not read. */
  let skipped = 0;
  const flush = (next: Omit<Block, 'start' | 'end'> = { kind: 'paragraph' }): void => {
    builder.add(pre > 0 ? text : collapsed(text), kind);
    text = '';
    kind = next;
  };
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (skipped > 0 || unread.has(name) || 'hidden' in attributes) {
        if (!empty.has(name)) skipped++;
        return;
      }
      if (name === 'br') text += '\n';
      if (row > 0 && (name === 'td' || name === 'th')) text += text.trim() === '' ? '' : ' | ';
      if (name === 'tr') row++;
      if (!dividing.has(name) || (row > 0 && name !== 'tr')) return;
      flush(kindOf(name, kind));
      if (name === 'pre') pre++;
    },
    ontext: (data) => {
      if (skipped === 0) text += data;
      if (text.length > most) throw new Error(`its text is longer than ${most} characters`);
    },
    onclosetag: (name) => {
      if (skipped > 0) {
        if (!empty.has(name)) skipped--;
        return;
      }
      if (row > 0 && name !== 'tr') return;
      if (dividing.has(name)) flush();
      if (name === 'tr') row = Math.max(0, row - 1);
      if (name === 'pre') pre = Math.max(0, pre - 1);
    },
  });
  parser.write(html);
  parser.end();
  flush();
  return builder.build(null);
}

function kindOf(name: string, around: Omit<Block, 'start' | 'end'>): Omit<Block, 'start' | 'end'> {
  if (/^h[1-6]$/.test(name)) return { kind: 'heading', level: Number(name[1]) };
  if (name === 'li') return { kind: 'item' };
  if (name === 'tr') return { kind: 'row' };
  return name === 'p' && around.kind === 'item' ? around : { kind: 'paragraph' };
}

function collapsed(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/[\s\u00a0]+/g, ' ').trim())
    .join(' ')
    .replace(/ {2,}/g, ' ');
}
