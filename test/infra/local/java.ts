import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Kafka's brokers, the registry and Neo4j are compiled for it. */
const needed = 17;

const otherwise = 'or start Docker, or name running services in KAFKA_BROKERS, SCHEMA_REGISTRY_URL and NEO4J_URL';

/** The path of a Java that is new enough: that of JAVA_HOME if set, else the one on the PATH. */
export async function findJava(): Promise<string> {
  const home = process.env.JAVA_HOME ?? '';
  const java = home === '' ? 'java' : join(home, 'bin', 'java');
  const said = await outputOf(java, ['-version']);
  if (said === null)
    throw new Error(`There is no Java at \`${java}\`. Install a JDK, version ${needed} or later, ${otherwise}.`);
  const version = Number(/version "(\d+)/.exec(said)?.[1] ?? Number.NaN);
  if (version < needed) {
    throw new Error(`\`${java}\` is Java ${version}. Install a JDK, version ${needed} or later, ${otherwise}.`);
  }
  return java;
}

/** @throws Error that says what to install if there is no Maven */
export async function needMaven(): Promise<void> {
  if ((await outputOf('mvn', ['-v'])) !== null) return;
  throw new Error(
    `There is no Maven: \`mvn\` was not found. Install it (the package is called maven nearly everywhere), ${otherwise}.`,
  );
}

/** What a program prints, or null if it is not there or does not work. */
async function outputOf(program: string, args: string[]): Promise<string | null> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { timeout: 20_000 });
    return stdout + stderr;
  } catch {
    return null;
  }
}
