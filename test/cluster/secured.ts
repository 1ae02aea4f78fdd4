import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs';
import type { AclEntry, Admin, Kafka } from 'kafkajs';
import { clusterOf } from '../../libs/bus/src/kafka/kafkajs/cluster.js';
import type { Request } from '../../libs/bus/src/kafka/produce/requests.js';
import { AnswerReader, RequestWriter } from '../../libs/bus/src/kafka/produce/wire.js';

const resources = {
  '--topic': AclResourceTypes.TOPIC,
  '--group': AclResourceTypes.GROUP,
  '--transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
} as const;
const operations = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
} as const;

/** Does what `kafka-acls.sh` would do with these lines. @throws Error for an option that it does not know */
export async function grant(admin: Admin, lines: readonly string[]): Promise<void> {
  await admin.createAcls({ acl: lines.filter((line) => line !== '' && !line.startsWith('#')).flatMap(entriesOf) });
}

/** Takes back the right to a group. */
export async function revokeGroup(admin: Admin, principal: string, group: string): Promise<void> {
  const filter = {
    resourceType: AclResourceTypes.GROUP,
    resourceName: group,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal,
    host: '*',
    operation: AclOperationTypes.READ,
    permissionType: AclPermissionTypes.ALLOW,
  };
  await admin.deleteAcls({ filters: [filter] });
}

function entriesOf(line: string): readonly AclEntry[] {
  const [, ...words] = line.split(' ');
  let principal = '';
  let pattern = ResourcePatternTypes.LITERAL;
  const allowed: AclOperationTypes[] = [];
  const on: { readonly type: AclResourceTypes; readonly name: string }[] = [];
  while (words.length > 0) {
    const option = words.shift() ?? '';
    if (option === '--add') continue;
    if (option === '--cluster') {
      on.push({ type: AclResourceTypes.CLUSTER, name: 'kafka-cluster' });
      continue;
    }
    const value = words.shift() ?? '';
    if (option === '--bootstrap-server') continue;
    else if (option === '--allow-principal') principal = value;
    else if (option === '--resource-pattern-type' && value === 'prefixed') pattern = ResourcePatternTypes.PREFIXED;
    else if (option === '--operation' && value in operations)
      allowed.push(operations[value as keyof typeof operations]);
    else if (option in resources) on.push({ type: resources[option as keyof typeof resources], name: value });
    else throw new Error(`There is no ${option} ${value} here: ${line}`);
  }
  return allowed.flatMap((operation) =>
    on.map(({ type, name }) => ({
      resourceType: type,
      resourceName: name,
      resourcePatternType: pattern,
      principal,
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    })),
  );
}

const iterations = 4_096;
const mechanisms = {
  'SCRAM-SHA-256': { number: 1, hash: 'sha256', bytes: 32 },
  'SCRAM-SHA-512': { number: 2, hash: 'sha512', bytes: 64 },
} as const;

/** AlterUserScramCredentials (51), which kafkajs does not have. */
export async function setScramPassword(
  kafka: Kafka,
  user: string,
  mechanism: keyof typeof mechanisms,
  password: string,
): Promise<void> {
  const { number, hash, bytes } = mechanisms[mechanism];
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, bytes, hash);
  const encode = (): Buffer => {
    const writer = new RequestWriter(true);
    writer.array([], () => undefined);
    writer.array([user], (name) => writer.text(name).int8(number).int32(iterations).bytes(salt).bytes(salted).end());
    return writer.end().done();
  };
  const request: Request<string | null> = {
    request: {
      apiKey: 51,
      apiVersion: 0,
      apiName: 'AlterUserScramCredentials',
      encode: () => {
        const buf = encode();
        return Promise.resolve({ buf, buffer: buf });
      },
    },
    response: {
      decode: (raw) => {
        const reader = new AnswerReader(raw, true);
        const clientSideThrottleTime = reader.int32();
        const [failure = null] = reader.array(() => {
          const [, errorCode, message] = [reader.text(), reader.int16(), reader.text()];
          reader.end();
          return errorCode === 0 ? null : `${errorCode} ${message}`;
        });
        return Promise.resolve({ value: failure, clientSideThrottleTime });
      },
      parse: ({ value }) => Promise.resolve(value),
    },
  };
  const cluster = clusterOf(kafka);
  await cluster.connect();
  try {
    await cluster.refreshMetadata();
    const broker = await cluster.findControllerBroker();
    const failure = await broker.connectionPool.send(request);
    if (failure !== null) throw new Error(`${user} gets no password: ${failure}`);
  } finally {
    await cluster.disconnect();
  }
}
