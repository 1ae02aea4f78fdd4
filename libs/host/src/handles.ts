import 'reflect-metadata';
import type { Topic } from '@sluice/contracts';

/**
 * Where Nest looks for handlers, by the names of its constants; a test compares them with what `@EventPattern`
 * writes.
 */
const nestKeys = {
  pattern: 'microservices:pattern',
  handler: 'microservices:handler_type',
  extras: 'microservices:pattern_extras',
  parameters: '__routeArguments__',
};
const eventHandler = 2;

/**
 * Subscribes a controller's method to topics: it gets each record as `(message, context)`, an Incoming and its
 * HandlerContext, and what it returns is published together with the acknowledgement.
 *
 * It writes what Nest's `@EventPattern` writes, which would load all of Nest where a command only looks at this
 * library. Nest takes the parameters of a method through pipes one by one, even where there are none, and the
 * promises of that were a sixteenth of what the filter allocated for a record; a method whose parameters are said to
 * need nothing gets what the transport gives it. So no pipe applies to it, and no decorator to its parameters;
 * guards, interceptors and exception filters do.
 */
export function Handles(...of: readonly Topic[]): MethodDecorator {
  return (target: object, method: string | symbol, { value: handler }: PropertyDescriptor) => {
    Reflect.defineMetadata(nestKeys.pattern, [...of], handler as object);
    Reflect.defineMetadata(nestKeys.handler, eventHandler, handler as object);
    Reflect.defineMetadata(nestKeys.extras, {}, handler as object);
    if (Reflect.hasMetadata(nestKeys.parameters, target.constructor, method))
      throw new Error(`${String(method)} gets (message, context) as they are. Take the decorators off its parameters.`);
    Reflect.defineMetadata(nestKeys.parameters, {}, target.constructor, method);
  };
}
