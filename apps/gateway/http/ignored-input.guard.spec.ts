import { Body, Param, Query, type ExecutionContext } from '@nestjs/common';
import { CUSTOM_ROUTE_ARGS_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { IgnoredInputGuard } from './ignored-input.guard.js';

class Routes {
  nothing(@Param('id') id: string) {
    return id;
  }
  parameters(@Query() query: unknown) {
    return query;
  }
  body(@Body() body: unknown) {
    return body;
  }
}

/** Returns true if a request with these parameters and this body passes, otherwise the message of its refusal. */
function sent(handler: keyof Routes, request: { query?: unknown; body?: unknown }) {
  const context = {
    getClass: () => Routes,
    getHandler: () => Routes.prototype[handler],
    switchToHttp: () => ({ getRequest: () => ({ url: '/v1/x', query: {}, ...request }) }),
  } as unknown as ExecutionContext;
  try {
    return new IgnoredInputGuard().canActivate(context);
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the guard of unread parameters and bodies', () => {
  it('accepts parameters and bodies that a route reads, and refuses those that the route does not read', () => {
    expect(sent('parameters', { query: { x: '1' } })).toBe(true);
    expect(sent('body', { body: { x: 1 } })).toBe(true);
    expect(sent('nothing', { query: { x: '1' } })).toBe('x: is not a known parameter');
    expect(sent('nothing', { body: { x: 1 } })).toBe('x: is not a known key');
    expect(sent('nothing', { body: {} })).toBe(true);
  });

  // When a process starts, Nest gives each of our own decorators a random name. The name can begin with 3 or 4, which
  // are Nest's numbers for a body and for parameters.
  it.each(['3f', '4x', '34'])(
    'does not treat a decorator of Earshot as a body or a parameter if Nest names the decorator %s…',
    (prefix) => {
      const own = Reflect.getMetadata(ROUTE_ARGS_METADATA, Routes, 'nothing') as object;
      Reflect.defineMetadata(
        ROUTE_ARGS_METADATA,
        { ...own, [`${prefix}${CUSTOM_ROUTE_ARGS_METADATA}:1`]: { index: 1 } },
        Routes,
        'nothing',
      );
      expect(sent('nothing', { query: { x: '1' } })).toBe('x: is not a known parameter');
      expect(sent('nothing', { body: { x: 1 } })).toBe('x: is not a known key');
    },
  );
});
