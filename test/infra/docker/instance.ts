import type { Container } from 'dockerode';
import { GenericContainer } from 'testcontainers';
import type { ContainerRuntimeClient } from 'testcontainers';
import type { Address } from '../address.ts';
import type { Instance, Place } from '../instance.ts';
import type { Fault } from '../protocol.ts';
import { untilReady } from '../ready.ts';
import type { Image } from './images.ts';

/** Marks the containers of a part with its folder, so that they are found even when their start was not waited for. */
const label = 'sluice.test.infra';

/** A part that is a container. Its port of the host and its data stay while it is stopped. */
export class ContainerInstance implements Instance {
  readonly address: Address;
  private readonly image: Image;
  private readonly client: ContainerRuntimeClient;
  private readonly place: Place;
  private created: Container | null = null;

  constructor(image: Image, client: ContainerRuntimeClient, place: Place) {
    this.address = image.address;
    this.image = image;
    this.client = client;
    this.place = place;
  }

  /** @throws Error if the image can't be had, or with the end of the container's log if it does not come up */
  async create(): Promise<void> {
    const { image, port, environment, command } = this.image;
    const started = await new GenericContainer(image)
      .withExposedPorts(port)
      .withEnvironment(environment)
      .withCommand(command)
      .withLabels({ [label]: this.place.folder })
      .start();
    this.created = this.client.container.getById(started.getId());
    await this.untilReady();
  }

  async inflict(fault: Fault): Promise<void> {
    switch (fault) {
      case 'start':
        await this.container.start();
        return await this.untilReady();
      case 'stop':
        await this.container.stop();
        return;
      case 'kill':
        await this.container.kill();
        return;
      case 'pause':
        await this.container.pause();
        return;
      case 'resume':
        await this.container.unpause();
        return;
    }
  }

  async remove(): Promise<void> {
    const { dockerode } = this.client.container;
    const filters = { label: [`${label}=${this.place.folder}`] };
    for (const { Id } of await dockerode.listContainers({ all: true, filters })) {
      await dockerode.getContainer(Id).remove({ force: true, v: true });
    }
  }

  private get container(): Container {
    if (this.created === null) throw new Error(`${this.address.kind} has no container yet; wait for its start.`);
    return this.created;
  }

  private async untilReady(): Promise<void> {
    try {
      await untilReady(this.address, this.place.ending);
    } catch (error) {
      const log = (await this.container.logs({ stdout: true, stderr: true, tail: 30 })).toString();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.address.kind} did not start. ${reason} The end of its log:\n${log}`, { cause: error });
    }
  }
}
