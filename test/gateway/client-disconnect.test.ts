import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { leaveStuck } from '../../apps/gateway/src/client-disconnect.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

describe('a caller that goes away', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  beforeAll(async () => {
    const model = new ScriptedModel(async () => {
      await held;
      return { answer: 'done' };
    });
    system = await startSystem(workflowConfiguration(), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    release();
    await gateway.close();
    await system.close();
  });

  it('while its request is being published is followed no longer', async () => {
    const { bus } = system.embedded.runtime as { bus: { publish: (messages: readonly unknown[]) => Promise<void> } };
    const publish = bus.publish.bind(bus);
    let begun: () => void = () => undefined;
    let go: () => void = () => undefined;
    const publishing = new Promise<void>((resolve) => (begun = resolve));
    const going = new Promise<void>((resolve) => (go = resolve));
    bus.publish = async (messages) => {
      begun();
      await going;
      await publish(messages);
    };
    try {
      const leaving = new AbortController();
      const asked = post(`${gateway.url}/v1/runs`, { question: 'Q' }, { prefer: 'wait=50' }, leaving.signal);
      await publishing;
      leaving.abort();
      await expect(asked).rejects.toThrow();
      await delay(100);
      go();
      await eventually(
        () => system.metric('sluice_followed_runs'),
        (followed) => followed === 0,
      );
    } finally {
      bus.publish = publish;
    }
  });
});

describe('a reader that takes nothing', () => {
  const served = async (
    write: (response: ServerResponse) => void,
    read: (socket: Socket) => void,
  ): Promise<ServerResponse> => {
    let told: (response: ServerResponse) => void = () => undefined;
    const responding = new Promise<ServerResponse>((resolve) => (told = resolve));
    const server = createServer((_, response) => {
      leaveStuck(response, 1_000);
      write(response);
      told(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    read(socket);
    const response = await responding;
    await delay(3_000);
    const { destroyed } = response;
    socket.destroy();
    server.closeAllConnections();
    server.close();
    expect(destroyed).toBe(response.getHeader('x-cut') === 'yes');
    return response;
  };
  /** More than the buffers of both ends hold. */
  const much = Buffer.alloc(64 * 1_048_576);

  it('is left in the end', async () => {
    await served(
      (response) => response.setHeader('x-cut', 'yes').write(much),
      (socket) => socket.pause(),
    );
  });

  it('is not one that reads slowly, nor one for whom there is nothing', async () => {
    await served(
      (response) => response.write(much),
      (socket) =>
        socket.on('data', () => {
          socket.pause();
          setTimeout(() => socket.resume(), 1);
        }),
    );
    await served(
      (response) => response.write('a little'),
      (socket) => socket.resume(),
    );
  });
});
