import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Examples that `sluice init --example` writes as folders of their own. */
export const exampleNames: readonly string[] = ['incident-desk'];

/**
 * The files of an example, by their paths in a folder of its own: what names the example’s place in the project names
 * that folder, and the schema is the installed package’s.
 */
export function exampleFolder(root: string, name: string, schema: string): Readonly<Record<string, string>> {
  const place = `examples/${name}`;
  const files = readdirSync(join(root, place), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map(({ parentPath, name: file }) => {
    const path = join(parentPath, file);
    const text = readFileSync(path, 'utf8')
      .replaceAll(`${place}/`, '')
      .replaceAll(/\$schema=\S+/g, `$schema=${schema}`);
    return [path.slice(join(root, place).length + 1).replaceAll('\\', '/'), text] as const;
  });
  return { ...Object.fromEntries(texts), '.gitignore': 'node_modules/\ndata/\n.env\n' };
}
