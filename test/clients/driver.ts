/** How a client is made for a step. */
export interface ClientSettings {
  readonly url: string;
  readonly token: string | null;
  readonly retries?: number;
  readonly longest_retry_after_ms?: number;
}

export type Outcome =
  { readonly result: unknown } | { readonly error: Readonly<Record<string, unknown>> & { readonly name: string } };

/** A client under test, in whatever language: does what a step says, and returns the result as JSON. */
export interface Driver {
  call(settings: ClientSettings, operation: string, args: Readonly<Record<string, unknown>>): Promise<Outcome>;
  close(): Promise<void>;
}
