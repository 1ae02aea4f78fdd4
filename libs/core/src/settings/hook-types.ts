import type { OwnRequest } from './schedule-types.js';

/** How deliveries of a hook are signed. */
export const hookSchemes = ['github', 'stripe', 'standard'] as const;
export type HookScheme = (typeof hookSchemes)[number];

/** Requests that another system’s webhooks make. `question` has places for parts of the delivery: `{/issue/title}`. */
export interface HookSettings extends OwnRequest {
  readonly scheme: HookScheme;
  /** The variable with the secret that the sender signs with. */
  readonly secretEnv: string;
  /** The variable with the former secret, which counts too while the sender changes over; absent where none does. */
  readonly previousSecretEnv?: string;
  /** Whether the run is given the delivery’s body as well, as words of a client. */
  readonly givesBody: boolean;
}
