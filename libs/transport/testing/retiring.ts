import { create } from '@bufbuild/protobuf';
import { Controller, mixin, type Type } from '@nestjs/common';
import { DoneSchema, RetireKeywordSchema, type Done, type RetireKeyword } from '#contracts';
import { COMMANDS } from '#messaging';
import { CommandPattern } from '../patterns.js';

// Only for specs: a command, its answer, and controllers that answer it.

/** The command of the specs. */
export const command = create(RetireKeywordSchema, {
  commandId: 'c',
  accountId: 'a',
  keywordId: 'k',
  purge: true,
});
/** The answer to the command. */
export const done = create(DoneSchema);

/** Creates a controller that calls this function to execute the command to retire a keyword. */
export function retiring(handle: (input: RetireKeyword) => Promise<Done>): Type {
  @Controller()
  class Retiring {
    @CommandPattern(COMMANDS.retireKeyword)
    retire(input: RetireKeyword) {
      return handle(input);
    }
  }
  return mixin(Retiring);
}

/** Returns a controller whose handler resolves `begun`, and then waits until `release` is called. */
export function gatedHandler() {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const controller = retiring(async () => {
    begin();
    await gate;
    return done;
  });
  return { begun, release, controller };
}
