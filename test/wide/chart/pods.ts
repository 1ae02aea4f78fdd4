import { randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** Of what Helm renders, what a pod is run by. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly configMap?: { readonly name: string };
  }[];
  readonly containers: readonly [
    {
      readonly command?: readonly string[];
      readonly args: readonly string[];
      readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
      readonly env?: readonly { readonly name: string; readonly value: string }[];
      readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
      readonly readinessProbe?: Probe;
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    },
  ];
}

/** So that two runs of the tests do not meet. */
const network = `127.${String(randomInt(1, 255))}.${String(randomInt(1, 255))}`;

/** What the pods of a release share. */
export interface Node {
  readonly folder: string;
  /** Where the image has its files, and how its entry point begins. */
  readonly workingFolder: string;
  readonly entryPoint: readonly string[];
  readonly path: string;
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/**
 * A pod's container as a process: the words, the variables, the files and the probe are as rendered. Volumes are
 * folders of this machine, so where a mounted path is named the process is given its folder. The pod's address is one
 * of loopback, at which its ports are as rendered.
 */
export class Pod {
  readonly address: string;
  private readonly process: ChildProcess;
  private said = '';
  readonly ended: Promise<Ended>;
  private readonly spec: PodSpec;

  constructor(name: string, spec: PodSpec, index: number, node: Node) {
    this.spec = spec;
    this.address = `${network}.${String(index + 1)}`;
    const [{ command, args, env = [], envFrom }] = spec.containers;
    const inFolder = this.mount(name, node);
    const map = (text: string): string => {
      const [path, folder] = inFolder.find(([one]) => text === one || text.startsWith(`${one}/`)) ?? ['', ''];
      return folder + text.slice(path.length);
    };
    const variables = {
      // What ops/Dockerfile sets.
      ...{ NODE_ENV: 'production', SLUICE_HOST: this.address },
      ...Object.assign({}, ...envFrom.map(({ configMapRef: { name: map } }) => node.configMaps[map] ?? missing(map))),
      ...Object.fromEntries(env.map(({ name: variable, value }) => [variable, value])),
    } as Readonly<Record<string, string>>;
    const [program = '', ...words] = [...(command?.map(map) ?? node.entryPoint), ...args.map(map)];
    this.process = spawn(program, words, {
      cwd: node.workingFolder,
      env: {
        PATH: node.path,
        ...Object.fromEntries(Object.entries(variables).map(([variable, value]) => [variable, map(value)])),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (piece: Buffer) => (this.said += piece.toString()));
    this.ended = new Promise((resolve) => this.process.once('close', (code) => resolve({ code, output: this.said })));
  }

  /** The folders of the volumes by their paths in the container, the longest first. */
  private mount(name: string, node: Node): readonly (readonly [string, string])[] {
    const [{ volumeMounts }] = this.spec.containers;
    const mounted = volumeMounts.map(({ name: volume, mountPath }) => {
      const folder = join(node.folder, name, volume);
      mkdirSync(folder, { recursive: true });
      const { secret, configMap } = this.spec.volumes.find((one) => one.name === volume) ?? {};
      const files =
        secret !== undefined
          ? (node.secrets[secret.secretName] ?? missing(secret.secretName))
          : configMap !== undefined
            ? (node.configMaps[configMap.name] ?? missing(configMap.name))
            : {};
      for (const [file, text] of Object.entries(files)) {
        writeFileSync(join(folder, file), text);
        chmodSync(join(folder, file), 0o440);
      }
      return [mountPath, folder] as const;
    });
    return mounted.sort(([one], [other]) => other.length - one.length);
  }

  port(name: string): number {
    const [{ ports = [] }] = this.spec.containers;
    return ports.find((one) => one.name === name)?.containerPort ?? missing(name);
  }

  /** Asks the readiness probe, as a kubelet does, until it succeeds. */
  async ready(seconds: number): Promise<void> {
    const [{ readinessProbe }] = this.spec.containers;
    const { path, port } = readinessProbe?.httpGet ?? missing('readinessProbe');
    const url = `http://${this.address}:${String(this.port(port))}${path}`;
    let last = '';
    for (let passed = 0; passed < seconds; passed += 1) {
      if (this.process.exitCode !== null) throw new Error(`The pod ended before it was ready: ${this.said}`);
      try {
        const answer = await fetch(url);
        last = await answer.text();
        if (answer.ok) return;
      } catch (error) {
        last = (error as Error).message;
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    throw new Error(`${url} is not ready: ${last}\n${this.said}`);
  }

  /** As Kubernetes ends it; what still runs after the grace period is killed, and has no exit code. */
  async stop(): Promise<Ended> {
    const { terminationGracePeriodSeconds: seconds = 30 } = this.spec;
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), seconds * 1_000);
    const ended = await this.ended;
    clearTimeout(timer);
    return ended;
  }
}

function missing(what: string): never {
  throw new Error(`The release refers to ${what}, which is not there.`);
}
