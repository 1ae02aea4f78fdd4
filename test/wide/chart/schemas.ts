import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { dirname, join } from 'node:path';
import JSZip from 'jszip';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../../harness/configurations.js';
import { moduleFolder, runs } from './helm.js';

/** The Python package has the schemas of Kubernetes, the Go modules the definitions of other kinds. */
const kubernetes = { package: 'kubernetes-validate==1.37.0', version: '1.37.0' };
const definitions = {
  'github.com/kedacore/keda/v2@v2.18.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': ['podmonitors', 'prometheusrules'].map(
    (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
  ),
};

type Schema = Readonly<Record<string, unknown>>;

/** The folder with a schema for each kind, in which no key is allowed that Kubernetes does not know; made once. */
export async function schemaFolder(): Promise<string> {
  const cache = join(projectRoot, 'node_modules/.cache');
  const made = join(cache, 'kubernetes-schemas', kubernetes.version);
  if (existsSync(made)) return made;
  mkdirSync(dirname(made), { recursive: true });
  const work = mkdtempSync(join(cache, 'kubernetes-schemas-'));
  try {
    const folder = join(work, 'schemas');
    mkdirSync(folder);
    for (const [name, schema] of [...(await ofKubernetes(work)), ...ofDefinitions(work)])
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(schema));
    renameSync(folder, made);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return made;
}

/** As kubeconform looks for them: `deployment-apps-v1`, `service-v1`. */
const fileName = (kind: string, group: string, version: string): string =>
  [kind.toLowerCase(), ...(group === '' ? [] : [group.split('.')[0] ?? '']), version].join('-');

async function ofKubernetes(work: string): Promise<readonly (readonly [string, Schema])[]> {
  const { code, errors } = runs('pip', ['download', kubernetes.package, '--no-deps', '--dest', work]);
  if (code !== 0) throw new Error(`The schemas of Kubernetes come with pip, which says: ${errors}`);
  const [wheel = ''] = readdirSync(work).filter((name) => name.endsWith('.whl'));
  const zip = await JSZip.loadAsync(readFileSync(join(work, wheel)));
  const path = `kubernetes_validate/kubernetes-json-schema/v${kubernetes.version}-local-strict/_definitions.json`;
  const text = await zip.file(path)?.async('string');
  if (text === undefined) throw new Error(`${kubernetes.package} has no ${path}.`);
  const { $defs: all } = JSON.parse(text) as { readonly $defs: Readonly<Record<string, Schema>> };
  return Object.entries(all).flatMap(([name, schema]) => {
    const kinds = schema['x-kubernetes-group-version-kind'] as
      readonly { readonly group: string; readonly kind: string; readonly version: string }[] | undefined;
    // What has several is a part of others, such as DeleteOptions.
    const [own] = kinds ?? [];
    if (own === undefined || kinds?.length !== 1) return [];
    return [
      [fileName(own.kind, own.group, own.version), { $ref: `#/$defs/${name}`, $defs: needed(name, all) }] as const,
    ];
  });
}

/** A definition with those that it refers to. */
function needed(name: string, all: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const names = new Set([name]);
  for (const one of names)
    for (const [, other = ''] of JSON.stringify(all[one] ?? {}).matchAll(/"#\/\$defs\/([^"]+)"/g)) names.add(other);
  return Object.fromEntries([...names].map((one) => [one, all[one] ?? {}]));
}

function ofDefinitions(work: string): readonly (readonly [string, Schema])[] {
  return Object.entries(definitions).flatMap(([module, paths]) => {
    const folder = moduleFolder(module, work);
    return paths.flatMap((path) =>
      parseAllDocuments(readFileSync(join(folder, path), 'utf8')).flatMap((document) => {
        const { spec } = document.toJS() as {
          readonly spec: {
            readonly group: string;
            readonly names: { readonly kind: string };
            readonly versions: readonly {
              readonly name: string;
              readonly schema: { readonly openAPIV3Schema: Schema };
            }[];
          };
        };
        return spec.versions.map(
          ({ name, schema }) => [fileName(spec.names.kind, spec.group, name), strict(schema.openAPIV3Schema)] as const,
        );
      }),
    );
  });
}

/** An object that lists its members has no others, unless its definition keeps what it does not know. */
function strict(schema: unknown): Schema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, visit(one)]));
    const closed =
      typeof members['properties'] === 'object' &&
      members['type'] === 'object' &&
      members['additionalProperties'] === undefined &&
      members['x-kubernetes-preserve-unknown-fields'] !== true;
    if (members['x-kubernetes-int-or-string'] === true) return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
    return closed ? { ...members, additionalProperties: false } : members;
  };
  const { properties, ...rest } = visit(schema) as { readonly properties: Schema };
  // What the definition leaves to Kubernetes itself.
  return { ...rest, properties: { ...properties, metadata: { type: 'object' } } };
}
