/** One thing that would be otherwise under the candidate. */
export type Change =
  /**
   * The model would be shown other tools, by key; `altered` are offered as before, with another description or
   * schema.
   */
  | {
      readonly kind: 'tools';
      readonly gained: readonly string[];
      readonly lost: readonly string[];
      readonly altered: readonly string[];
    }
  /** A call of the tool, by key: made, waits for an approval, or refused with a reason. */
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly index: number;
      readonly was: string;
      readonly would: string;
      /** The rule of the configuration that refuses it, as it would be decided or else as it was; absent for none. */
      readonly rule?: string;
      /** What the executor found out to judge it; absent for nothing. */
      readonly facts?: Readonly<Record<string, string>>;
    }
  /** The state after a success. */
  | {
      readonly kind: 'state';
      readonly tool: string;
      readonly index: number;
      readonly was: string;
      readonly would: string;
    }
  /** The run goes on, or ends with an error code. */
  | { readonly kind: 'run'; readonly was: string; readonly would: string }
  /**
   * What happens to a decision on a call of the tool, by key: taken, or why not. `tool` is empty if nothing was
   * asked.
   */
  | { readonly kind: 'approval'; readonly tool: string; readonly was: string; readonly would: string };
