import type { Supervisor } from './launch.ts';

/** The supervisor of this jest run; jest's setup and teardown are modules of their own, so it is kept in a third. */
export const running: { supervisor: Supervisor | null } = { supervisor: null };
