import type { CedarProblem } from '@sluice/core';

/** What the compiler needs of the outside for `authorization.cedar`. */
export interface AuthorizationFiles {
  /** The text of a file, relative to the working directory, or why it cannot be read. */
  read(file: string): { readonly text: string } | { readonly error: string };
  /**
   * What is wrong with Cedar policies and their schema, as sentences; empty if they fit each other and what is asked
   * of them.
   */
  cedarProblems(policies: string, schema: string): readonly CedarProblem[];
  /** Names of the caller's claims that a Cedar schema declares; absent where there is no Cedar to read it. */
  cedarClaims?(schema: string): readonly string[];
}
