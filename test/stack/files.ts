import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../harness/configurations.js';

export interface Service {
  readonly image?: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile: string;
    readonly args?: Readonly<Record<string, string>>;
  };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly restart?: string;
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly depends_on?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly healthcheck?: Readonly<Record<string, unknown>>;
  readonly deploy?: { readonly resources?: { readonly limits?: { readonly memory?: string } } };
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
}

export interface ComposeFile {
  readonly text: string;
  readonly keys: readonly string[];
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function read(file: string): string {
  return readFileSync(join(projectRoot, file), 'utf8');
}

/** Any YAML file of the project, merge keys resolved. */
export function readYaml(file: string): unknown {
  // Services share parts by aliases, more of them than the reader takes of strangers.
  return parse(read(file), { merge: true, maxAliasCount: 1_000 });
}

export function composeFile(file: string): ComposeFile {
  const { services, volumes, ...others } = readYaml(file) as Pick<ComposeFile, 'services' | 'volumes'>;
  return { text: read(file), keys: Object.keys(others), services, volumes: volumes ?? {} };
}

/** Whether the service does one thing and ends. */
export function endsByItself({ restart }: Service): boolean {
  return restart === 'no';
}

/** What stands where the variable `NAME` in `${NAME:-default}` is not set. */
export function withoutVariables(text: string): string {
  return text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
}

/** Whether it is one of the project's own image. */
export function isOwn({ image = '' }: Service): boolean {
  return image.includes('sluice:local');
}
