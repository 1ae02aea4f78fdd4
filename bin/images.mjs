/**
 * `npm run images`: asks the registries for the digest of each image that the files name by its version, and says which
 * have another one there, or none here. `--pin` writes what it found into the files.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const files = ['docker-compose.yml', 'compose.cluster.yml', 'compose.confluent.yml', 'ops/Dockerfile'];

/** An image after `NAME_IMAGE:-` or `NAME_IMAGE=`, its digest if it has one. */
const pins = /(?<=\b[A-Z]+_IMAGE(?::-|=))([\w./-]+:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?/g;

/** The images of a text, each with its digest or null; not the project's own. */
export function imagesOf(text) {
  const found = [...text.matchAll(pins)].map(([, image, digest = null]) => ({ image, digest }));
  return found.filter(({ image }) => !image.startsWith('sluice:'));
}

/** The text with these digests, by the names of their images. */
export function pinned(text, digests) {
  return text.replaceAll(pins, (whole, image) => (digests.has(image) ? `${image}@${digests.get(image)}` : whole));
}

/** The digest of the index of all platforms, from the image's registry. */
function digestOf(image) {
  const format = ['--format', '{{.Manifest.Digest}}'];
  const { status, stdout, stderr } = spawnSync('docker', ['buildx', 'imagetools', 'inspect', image, ...format], {
    encoding: 'utf8',
  });
  if (status === 0 && /^sha256:[0-9a-f]{64}$/.test(stdout.trim())) return stdout.trim();
  throw new Error(`The registry of ${image} was not asked: ${(stderr || 'Docker cannot be run').trim()}`);
}

function main() {
  const { values } = parseArgs({ options: { pin: { type: 'boolean', default: false } } });
  const texts = files.map((file) => [file, readFileSync(join(root, file), 'utf8')]);
  const here = new Map(texts.flatMap(([, text]) => imagesOf(text)).map(({ image, digest }) => [image, digest]));
  const there = new Map([...here.keys()].map((image) => [image, digestOf(image)]));
  for (const [image, digest] of here)
    console.log(
      `${digest === there.get(image) ? 'same ' : digest === null ? 'new  ' : 'other'} ${image} ${there.get(image)}`,
    );
  if (!values.pin) return;
  for (const [file, text] of texts) writeFileSync(join(root, file), pinned(text, there));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`sluice: ${error.message}`);
    process.exitCode = 1;
  }
}
