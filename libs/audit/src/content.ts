import { recordContent, recordNames, sha256 } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** SHA-256 over what a record says (`recordContent`), behind `[key,timestamp]` and a line feed. */
export function contentHash({ topic, key, timestamp, record }: Incoming): string {
  return sha256(`${JSON.stringify([key, timestamp])}\n${recordContent(recordNames[topic], record)}`);
}
