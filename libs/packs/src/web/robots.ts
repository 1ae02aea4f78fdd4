import { ToolUnavailableError } from '@sluice/core';
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

  /**
   * No file means that all is open. Where it cannot be read nothing may be fetched (RFC 9309), and that is no rule of
   * the server’s: the next call asks again.
   */
  private async read(origin: string, signal: AbortSignal): Promise<MayFetch> {
    const address = `${origin}/robots.txt`;
    const { status, bytes } = await this.web.get(address, limits, signal);
    if (status >= 500)
      throw new ToolUnavailableError(
        `The server of ${new URL(origin).host} answers ${status} for its robots.txt, without which no page is fetched.`,
      );
    if (status >= 400) return () => true;
    const { default: parse } = await import('robots-parser');
    const rules = (parse as unknown as typeof parse.default)(address, new TextDecoder().decode(bytes));
    return (url) => rules.isAllowed(url, userAgent) !== false;
  }
}
