import type { CheckResult } from '@sluice/core';

/** How long a check may take unless it says otherwise, milliseconds. */
const usualMs = 5_000;

export interface Check {
  /** Its name, which stays from version to version. */
  readonly check: string;
  readonly limitMs?: number;
  /** The signal is aborted when its time is over. */
  run(signal: AbortSignal): Promise<CheckResult> | CheckResult;
}

/** A check that was made, as `--json` prints it. */
export interface CheckReport extends CheckResult {
  readonly check: string;
  readonly ms: number;
}

/** Makes the check, within its time. Never rejects: what it throws is what it found. */
export async function examine({ check, limitMs = usualMs, run }: Check): Promise<CheckReport> {
  const begun = performance.now();
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(() => {
      over.abort(new Error(`It did not answer within ${limitMs / 1_000} s.`));
      resolve({ outcome: 'failed', detail: `It did not answer within ${limitMs / 1_000} s.` });
    }, limitMs);
  });
  const result = await Promise.race([late, made(run, over.signal)]);
  clearTimeout(timer);
  const { outcome, detail, action } = result;
  const ms = Math.round(performance.now() - begun);
  return { check, outcome, detail, ...(action === undefined ? {} : { action }), ms };
}

async function made(run: Check['run'], signal: AbortSignal): Promise<CheckResult> {
  try {
    return await run(signal);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { outcome: 'failed', detail };
  }
}
