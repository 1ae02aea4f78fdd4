/** How an installation stands, as `sluice status --json` prints it. Times are ISO 8601. */
export interface InstallationStatus {
  readonly at: string;
  /** Where it was read: at a gateway, or from the log itself. */
  readonly from: 'gateway' | 'log';
  /** Of the gateway; null from the log. */
  readonly version: string | null;
  readonly config_version: string | null;
  readonly roles: readonly {
    readonly role: string;
    /** Whether it works, as far as that is known here. */
    readonly ready: boolean | null;
    readonly lag: number | null;
    readonly topics: readonly { readonly topic: string; readonly lag: number }[];
    readonly problem: string | null;
  }[];
  /** What of the gateway’s process is not well. */
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly said: string }[];
  readonly runs: { readonly running: number; readonly oldest_at: string | null; readonly overdue: number | null };
  readonly approvals: { readonly waiting: number; readonly oldest_at: string | null };
  readonly dead_letters: { readonly last_day: number; readonly latest_at: string | null };
  readonly servers: readonly { readonly name: string; readonly state: string; readonly held_back: number }[];
  /** Configurations on the log that services refuse and that came after the one in force. */
  readonly refused: readonly { readonly version: string; readonly why: string }[];
  /** Of the runs that ended since midnight, UTC; usd is null where no price is known. */
  readonly today: {
    readonly runs: number;
    readonly failures: number;
    readonly tokens: { readonly input: number; readonly output: number };
    readonly usd: number | null;
  };
}

/** What needs attention, as sentences with what to do. */
export function attentionOf(status: InstallationStatus): readonly string[] {
  const { roles, checks, runs, dead_letters: letters, servers, refused } = status;
  return [
    ...roles.flatMap(({ role, ready, problem }) => [
      ...(ready === false ? [`The role ${role} does not work. \`sluice doctor\` looks for the cause.`] : []),
      ...(problem === null ? [] : [`The lag of ${role} cannot be read: ${problem}`]),
    ]),
    ...checks.flatMap(({ name, ok, said }) => (ok ? [] : [`${name}: ${said}`])),
    ...(runs.overdue === null || runs.overdue === 0
      ? []
      : [
          `${runs.overdue === 1 ? 'A run is behind its deadline and has' : `${runs.overdue} runs are behind their deadline and have`} not ended. \`sluice runs --outcome running\` lists them.`,
        ]),
    ...(letters.last_day === 0
      ? []
      : [
          `${letters.last_day === 1 ? 'A record became a dead letter' : `${letters.last_day} records became dead letters`} in the last day. \`sluice dead-letters list\` shows them.`,
        ]),
    ...servers.flatMap(({ name, held_back: heldBack }) =>
      heldBack === 0
        ? []
        : [
            `${heldBack === 1 ? 'A tool' : `${heldBack} tools`} of the MCP server ${name} ${heldBack === 1 ? 'is' : 'are'} held back. \`sluice mcp approve ${name}\` shows what changed.`,
          ],
    ),
    ...refused.map(({ version, why }) => `The configuration ${version} is refused: ${why}`),
  ];
}

/** The beginning of the UTC day. */
export function midnight(now: number): number {
  return now - (now % 86_400_000);
}

export function isoOrNull(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}
