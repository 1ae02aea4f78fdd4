import { isJsonObject, logLevels } from '@sluice/core';
import type { CallNotice, LogLevel } from '@sluice/core';
import { hidden } from './call-result.js';

interface Listener {
  readonly onNotice: ((notice: CallNotice) => void) | undefined;
}

/**
 * Gives a server's log messages to the call that they belong to. The protocol names no call in them, so they go on
 * only where there can be no doubt: one call is under way, and the connection never served another caller, whose data
 * a late message may have in it.
 */
export class LogRelay {
  private readonly underWay = new Set<Listener>();
  private caller: string | null = null;
  private isShared = false;

  /** A call by the caller begins; it ends with the returned function. */
  begin(caller: string, onNotice: Listener['onNotice']): () => void {
    this.isShared ||= this.caller !== null && this.caller !== caller;
    this.caller ??= caller;
    const listener = { onNotice };
    this.underWay.add(listener);
    return () => void this.underWay.delete(listener);
  }

  said(notice: CallNotice): void {
    if (this.isShared || this.underWay.size !== 1) return;
    for (const { onNotice } of this.underWay) onNotice?.(notice);
  }
}

/** A log message as the protocol has it; null for any other value. */
export function logNotice(params: unknown, hide: (text: string) => string): CallNotice | null {
  if (!isJsonObject(params)) return null;
  const { level, logger, data } = params;
  if (!logLevels.includes(level as LogLevel) || data === undefined) return null;
  return {
    kind: 'log',
    level: level as LogLevel,
    logger: typeof logger === 'string' ? hide(logger) : null,
    data: hidden(data, hide),
  };
}
