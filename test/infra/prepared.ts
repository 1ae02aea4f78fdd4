/** The statements that this suite’s code has prepared on SQLite, for suites that hold them on another database too. */
export const prepared = new Set<string>();
