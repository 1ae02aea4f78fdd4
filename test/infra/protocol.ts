import type { Address, Kind, SharedKind } from './address.ts';

/**
 * What can be done to a part that a test owns. `stop` is orderly, `kill` is not; after both its data and its address
 * are kept for `start`.
 */
export const faults = ['stop', 'kill', 'start', 'pause', 'resume'] as const;

export type Fault = (typeof faults)[number];

/** What a test asks of the supervisor: one JSON body a request. */
export type Command =
  | { readonly do: 'share'; readonly kind: SharedKind }
  | { readonly do: 'own'; readonly kind: Kind }
  | { readonly do: 'release'; readonly id: string }
  | { readonly do: 'inflict'; readonly id: string; readonly fault: Fault };

/** `id` names an owned part; it is empty for a shared one, which nobody may hurt. */
export interface Started {
  readonly id: string;
  readonly address: Address;
}

export type Answer = { readonly started: Started | null } | { readonly refused: string };

/** The variable in which a test process finds its supervisor; the jest setup sets it. */
export const supervisorVariable = 'SLUICE_TEST_INFRA';
