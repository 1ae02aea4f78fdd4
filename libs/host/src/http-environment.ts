import type { Variables } from './variables.js';

/** What the gateway takes and keeps, beyond where it listens. */
export interface HttpSettings {
  /**
   * Of a body. SLUICE_HTTP_BODY_BYTES, default 1 MiB: as JSON a record of the largest size takes somewhat more than
   * on the log.
   */
  readonly bodyBytes: number;
  /** Of all headers of a request. SLUICE_HTTP_HEADER_BYTES, default 16 KiB. */
  readonly headerBytes: number;
  /** How long a request may take to arrive, milliseconds. SLUICE_HTTP_REQUEST_SECONDS, default 60. */
  readonly requestMs: number;
  /** Runs that are streamed or waited for at once. SLUICE_HTTP_STREAMS, default 1,000. */
  readonly streams: number;
  /** How long entries of the audit are listed, milliseconds; null for ever. SLUICE_HTTP_AUDIT_DAYS, default 90. */
  readonly auditMs: number | null;
  /** Whether the console is served beside the routes. SLUICE_CONSOLE, `on` (default) or `off`. */
  readonly isConsoleServed: boolean;
  /** Doors for clients of the model providers. */
  readonly doors: DoorSettings;
}

interface DoorSettings {
  /** How calls of the agent's tools are shown. SLUICE_DOOR_CALLS, `nothing` (default), `reasoning` or `text`. */
  readonly calls: 'nothing' | 'reasoning' | 'text';
  /** What a client that leaves does to its run. SLUICE_DOOR_LEAVING, `continue` (default) or `cancel`. */
  readonly leaving: 'continue' | 'cancel';
}

const dayMs = 24 * 3_600_000;

export function readHttp(variables: Variables): HttpSettings {
  return {
    bodyBytes: variables.integer('SLUICE_HTTP_BODY_BYTES', 1_048_576, 1_024, 16_777_216),
    headerBytes: variables.integer('SLUICE_HTTP_HEADER_BYTES', 16_384, 4_096, 1_048_576),
    requestMs: variables.integer('SLUICE_HTTP_REQUEST_SECONDS', 60, 1, 3_600) * 1_000,
    streams: variables.integer('SLUICE_HTTP_STREAMS', 1_000, 1, 100_000),
    auditMs: variables.integer('SLUICE_HTTP_AUDIT_DAYS', 90, 0, 36_500) * dayMs || null,
    isConsoleServed: variables.oneOf('SLUICE_CONSOLE', ['on', 'off'], 'on') === 'on',
    doors: {
      calls: variables.oneOf('SLUICE_DOOR_CALLS', ['nothing', 'reasoning', 'text'], 'nothing'),
      leaving: variables.oneOf('SLUICE_DOOR_LEAVING', ['continue', 'cancel'], 'continue'),
    },
  };
}
