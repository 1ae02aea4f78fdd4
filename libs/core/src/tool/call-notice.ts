import type { JsonValue } from '../json.js';
import { jsonBytes } from '../plain-json.js';
import { cut, wellFormed } from '../well-formed.js';
import type { CallSecrets } from './secrets.js';

/** The levels of log messages in MCP, as in syslog, the least severe first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What the MCP server of a tool says while a call of it runs, for the caller: best effort, and without a reply. */
export type CallNotice =
  | {
      readonly kind: 'progress';
      readonly progress: number;
      readonly total: number | null;
      readonly message: string;
    }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly logger: string | null;
      readonly data: JsonValue;
    };

/** The longest message of progress and name of a logger, in characters, and the largest data of a log message. */
const longestMessage = 2_000;
const longestLogger = 128;
const largestData = 8 * 1_024;
/** Notices of each kind that a call may send: so many at once, so many more each second, and so many in all. */
const atOnce = 20;
const perSecond = 10;
const mostOfCall = 5_000;

/** Admits as many notices as a call may send. */
class Allowance {
  private left = atOnce;
  private at = -Infinity;
  private count = 0;

  constructor(private readonly now: () => number) {}

  take(): boolean {
    const now = this.now();
    this.left = Math.min(atOnce, this.left + Math.max(0, ((now - this.at) / 1_000) * perSecond));
    this.at = now;
    if (this.left < 1 || this.count >= mostOfCall) return false;
    this.left -= 1;
    this.count += 1;
    return true;
  }
}

interface GateParts {
  /** Whether the tool's results leave it whole: otherwise numbers of progress go on alone, and log messages do not. */
  readonly isOpen: boolean;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Take the call's credentials out. */
  readonly secrets: Pick<CallSecrets, 'text' | 'value'>;
}

/** Which notices of one call go on to its caller, and what of them. A server that sends too many loses the rest. */
export class NoticeGate {
  private readonly progress: Allowance;
  private readonly log: Allowance;
  private reached = -Infinity;

  constructor(private readonly parts: GateParts) {
    this.progress = new Allowance(parts.now);
    this.log = new Allowance(parts.now);
  }

  /** The notice as it may go on; null where it may not. */
  admit(notice: CallNotice): CallNotice | null {
    return notice.kind === 'progress' ? this.ofProgress(notice) : this.ofLog(notice);
  }

  /** Progress that does not grow is no progress, in MCP too. */
  private ofProgress(notice: CallNotice & { kind: 'progress' }): CallNotice | null {
    const { progress, total, message } = notice;
    if (!Number.isFinite(progress) || progress <= this.reached || !this.progress.take()) return null;
    this.reached = progress;
    return {
      kind: 'progress',
      progress,
      total: total !== null && Number.isFinite(total) ? total : null,
      message: this.parts.isOpen ? this.text(message, longestMessage) : '',
    };
  }

  private ofLog({ kind, level, logger, data }: CallNotice & { kind: 'log' }): CallNotice | null {
    if (!this.parts.isOpen || !this.log.take()) return null;
    return { kind, level, logger: logger === null ? null : this.text(logger, longestLogger), data: this.data(data) };
  }

  private data(data: JsonValue): JsonValue {
    try {
      jsonBytes(data, largestData);
      return this.parts.secrets.value(wellFormed(data));
    } catch {
      return tooLarge;
    }
  }

  private text(text: string, longest: number): string {
    const concealed = this.parts.secrets.text(text.toWellFormed());
    return concealed.length <= longest ? concealed : `${cut(concealed, longest - 1)}…`;
  }
}

const tooLarge = `(a log message of more than ${largestData} bytes, which is not passed on)`;
