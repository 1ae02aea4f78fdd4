/** How often a chain is sealed by a checkpoint, whichever comes first. */
export interface Pace {
  readonly entries: number;
  readonly milliseconds: number;
}

/**
 * A signature costs 0.1 ms, so a thousandth of it an entry; and nothing stands unsealed for much longer than a
 * minute.
 */
export const defaultPace: Pace = { entries: 1_000, milliseconds: 60_000 };
