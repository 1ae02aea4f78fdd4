import { createRequire } from 'node:module';

export type Engine = typeof import('@cedar-policy/cedar-wasm/nodejs');

const require = createRequire(import.meta.url);
let loaded: Engine | undefined;

/** Cedar itself, loaded when it is first needed: 4 MB that nobody pays for who does not use it. */
export function engine(): Engine {
  return (loaded ??= require('@cedar-policy/cedar-wasm/nodejs') as Engine);
}
