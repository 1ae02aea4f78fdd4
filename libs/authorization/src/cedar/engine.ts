import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

const require = createRequire(import.meta.url);
let loaded: typeof Cedar | undefined;

/** The package of Cedar, which the package of Sluice does not bring along: 13 MB. A test holds it to package.json. */
export const cedarPackage = '@cedar-policy/cedar-wasm@4.13.0';

/** Whether Cedar is installed where Sluice is. */
export function isInstalled(): boolean {
  try {
    require.resolve('@cedar-policy/cedar-wasm/nodejs');
    return true;
  } catch {
    return false;
  }
}

/** Cedar itself, loaded when it is first needed: 4 MB that a deployment without it does not pay for. */
export function engine(): typeof Cedar {
  return (loaded ??= require('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar);
}
