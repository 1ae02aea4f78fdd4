import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

const require = createRequire(import.meta.url);
let loaded: typeof Cedar | undefined;

/** Cedar itself, loaded when it is first needed: 4 MB that a deployment without it does not pay for. */
export function engine(): typeof Cedar {
  return (loaded ??= require('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar);
}
