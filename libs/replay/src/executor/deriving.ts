import type { RecordedConfigurations } from '../configurations.js';
import type { AuthorizerOf } from '../calls.js';
import type { Verifier } from '@sluice/core';

export interface Deriving {
  readonly configurations: RecordedConfigurations;
  readonly authorizerOf: AuthorizerOf;
  readonly verifier: Verifier;
}
