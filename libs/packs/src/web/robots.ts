import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { GuardedFetch } from './guarded-fetch.js';
import { userAgent } from './guarded-fetch.js';

const keptMs = 3_600_000;
const mostKept = 500;
/** What RFC 9309 has a crawler read at least. */
const limits = { bytes: 512_000, ms: 5_000 };

type MayFetch = (url: string) => boolean;

/** What servers let programs fetch, by their robots.txt (RFC 9309), kept for an hour. */
export class Robots {
  private readonly kept = new Map<string, { readonly until: number; readonly mayFetch: MayFetch }>();

  constructor(
    private readonly web: GuardedFetch,
    private readonly clock: Clock,
  ) {}

  async mayFetch(url: URL, signal: AbortSignal): Promise<boolean> {
    const known = this.kept.get(url.origin);
    if (known !== undefined && known.until > this.clock.now()) return known.mayFetch(url.href);
    const mayFetch = await this.read(url.origin, signal);
    this.kept.delete(url.origin);
    this.kept.set(url.origin, { until: this.clock.now() + keptMs, mayFetch });
    const [oldest] = this.kept.keys();
    if (this.kept.size > mostKept && oldest !== undefined) this.kept.delete(oldest);
    return mayFetch(url.href);
  }

  /** No file means that all is open; a server that cannot say what is open has everything closed. */
  private async read(origin: string, signal: AbortSignal): Promise<MayFetch> {
    const address = `${origin}/robots.txt`;
    try {
      const { status, bytes } = await this.web.get(address, limits, signal);
      if (status >= 500) return () => false;
      if (status >= 400) return () => true;
      const { default: parse } = await import('robots-parser');
      const rules = (parse as unknown as typeof parse.default)(address, new TextDecoder().decode(bytes));
      return (url) => rules.isAllowed(url, userAgent) !== false;
    } catch (error) {
      if (error instanceof ToolUserError || !(error instanceof ToolUnavailableError)) throw error;
      return () => false;
    }
  }
}
