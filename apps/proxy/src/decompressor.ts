import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { valuesOf } from '@sluice/proxy';
import type { Answer } from './upstreams.js';

/** What makes an answer’s bytes plain; null where they are. */
export function decompressor({ headers }: Pick<Answer, 'headers'>): Transform | null {
  const [encoding] = valuesOf(headers, 'content-encoding');
  const through = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const create = through[(encoding ?? '').trim().toLowerCase() as keyof typeof through] as
    (() => Transform) | undefined;
  return create?.() ?? null;
}
