import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const names = z.array(z.string().min(1));

const user = z.strictObject({ tenant: z.string().min(1), groups: names });

const kind = z.strictObject({
  weight: z.number().positive(),
  questions: z.array(z.string()).min(1),
  users: names.min(1).optional(),
  groups: names.optional(),
  state: z.string().optional(),
  expect: names.min(1).default(['answer']),
  credential: z.enum(['own', 'none']).default('own'),
  twice: z.boolean().default(false),
});

const mix = z.strictObject({
  issuer: z
    .strictObject({
      name: z.string().min(1),
      audience: z.string().min(1),
      key_file: z.string().min(1),
      jwks_file: z.string().min(1),
    })
    .optional(),
  users: z.record(z.string(), user).optional(),
  approver: z.strictObject({ user: z.string().min(1), refuses: z.number().min(0).max(1).default(0) }).optional(),
  kinds: z.record(z.string(), kind),
});

/** What is asked, how often of a hundred, by whom, and what should come of it (docs/load.md). */
export type Mix = z.infer<typeof mix>;
export type Kind = Mix['kinds'][string];
export type IssuerSettings = NonNullable<Mix['issuer']>;

/** Throws a sentence that names the file and each mistake. */
export function readMix(file: string): Mix {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`The mix ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  const { data, error } = mix.safeParse(parsed(file, text));
  const mistakes = error === undefined ? unknownUsers(data) : error.issues.map(sentence);
  if (data === undefined || mistakes.length > 0)
    throw new Error(`The mix ${file} has mistakes:\n${mistakes.join('\n')}`);
  return data;
}

function parsed(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`The mix ${file} is no YAML: ${(error as Error).message}`, { cause: error });
  }
}

function sentence({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  return `  ${path.map(String).join('.') || '(the file)'}: ${message}`;
}

function unknownUsers({ users = {}, kinds, approver }: Mix): string[] {
  const asked = Object.entries(kinds).flatMap(([name, one]) =>
    (one.users ?? []).map((wanted) => [`kinds.${name}.users`, wanted] as const),
  );
  const all = approver === undefined ? asked : [...asked, ['approver.user', approver.user] as const];
  const known = Object.keys(users);
  return all
    .filter(([, wanted]) => !known.includes(wanted))
    .map(([place, wanted]) => `  ${place}: there is no user ${wanted}; there are: ${known.join(', ') || 'none'}`);
}
