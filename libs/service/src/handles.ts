import { applyDecorators } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { PARAM_ARGS_METADATA } from '@nestjs/microservices/constants.js';
import type { Topic } from '@sluice/contracts';

/**
 * Subscribes a controller's method to topics: it gets each record as `(message, context)`, an Incoming and its HandlerContext, and what it returns is
 * published together with the acknowledgement.
 *
 * It is Nest's `@EventPattern`. Nest takes the parameters of a method through pipes one by one, even where there are none, and the promises of
 * that were a sixteenth of what the filter allocated for a record; a method whose parameters are said to need nothing gets what the transport gives it.
 * So no pipe applies to it, and no decorator to its parameters; guards, interceptors and exception filters do.
 */
export function Handles(...of: readonly Topic[]): MethodDecorator {
  return applyDecorators(EventPattern<string[]>([...of]), (target: object, method: string | symbol) => {
    if (Reflect.hasMetadata(PARAM_ARGS_METADATA, target.constructor, method))
      throw new Error(`${String(method)} gets (message, context) as they are. Take the decorators off its parameters.`);
    Reflect.defineMetadata(PARAM_ARGS_METADATA, {}, target.constructor, method);
  });
}
