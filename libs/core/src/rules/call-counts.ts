/** How often tools ran, by id. */
export type CallCounts = Readonly<Record<string, number>>;

export const noCalls: CallCounts = Object.freeze({});
