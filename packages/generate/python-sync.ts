/** What a line of the asynchronous client becomes in the one that blocks, in this order. */
const changes: readonly (readonly [RegExp, string])[] = [
  [
    /^"""The client for asyncio and trio\."""$/m,
    '"""The client that blocks, written from _async.py by `npm run generate`. Do not edit."""',
  ],
  [
    /^"""What the client for asyncio and trio sends with\."""$/m,
    '"""What the client that blocks sends with, written from _transport.py by `npm run generate`. Do not edit."""',
  ],
  [/from \._(transport|resources) import/g, 'from ._sync_$1 import'],
  // What only the asynchronous client needs.
  [/^.*# async only\n/gm, ''],
  [/ \| Awaitable\[str\]/g, ''],
  [/\bAwaitable\[((?:[^[\]]|\[[^[\]]*\]|\[[^[\]]*\[[^[\]]*\][^[\]]*\])*)\]/g, '$1'],
  [/\bAwaitable, /g, ''],
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bimport anyio\b/g, 'import time'],
  [/\banyio\.sleep\b/g, 'time.sleep'],
  [/\baclosing\b/g, 'closing'],
  [/\.a(iter_text|read|close)\(/g, '.$1('],
  [/\b__a(iter|enter|exit)__\b/g, '__$1__'],
  [/\bAsync(Generator|Iterator|Pages|Sluice|Client)\b/g, '$1'],
];

/**
 * The Python client that blocks, from the text of the asynchronous one. Throws where something asynchronous is left.
 */
export function blockingClient(asynchronous: string): string {
  const text = changes.reduce((changed, [from, to]) => changed.replace(from, to), asynchronous);
  const left = /\b(async|await|anyio|inspect|Awaitable|Async\w+)\b(?! by)/.exec(text.replace(/_async\.py/, ''));
  if (left !== null)
    throw new Error(`“${left[0]}” of the asynchronous client is unknown to packages/generate/python-sync.ts.`);
  return text;
}
