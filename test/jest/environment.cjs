const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { rules } = require('../rules.json');

const HOOK_TIMEOUT_MS = 60_000;
const RULE_IDS = new Set(Object.values(rules).flatMap((section) => Object.keys(section)));

/**
 * The environment of a spec: the process itself, with the part of the `jest` object that works without jest's
 * own module registry.
 */
module.exports = class NativeEnvironment {
  global = globalThis;

  constructor({ projectConfig }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    const { moduleMocker: mocker, fakeTimersModern: timers } = this;
    globalThis.jest = {
      fn: mocker.fn.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
      useFakeTimers: timers.useFakeTimers.bind(timers),
      useRealTimers: timers.useRealTimers.bind(timers),
      setSystemTime: timers.setSystemTime.bind(timers),
      advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
    };
  }

  async setup() {
    this.variables = { ...process.env };
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    // The next spec file usually runs in the same process.
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    // If the process uses much memory after a spec, jest ends it with SIGTERM, and runs the next spec in a new process.
    // A handler of the spec must not delay this.
    process.removeAllListeners('SIGTERM');
  }

  getVmContext() {
    return null;
  }

  handleTestEvent(event, state) {
    if (event.name === 'add_hook') {
      refuseHookOfHelper(event.asyncError);
      state.currentDescribeBlock.hooks.at(-1).timeout ??= HOOK_TIMEOUT_MS;
    }
    if (event.name === 'add_test') refuseUnknownRules(event.testName);
    if (event.name === 'start_describe_definition') refuseUnknownRules(event.blockName);
  }
};

/**
 * @param caller an error whose stack shows who has called the hook
 * @throws Error if a helper calls a hook at its top level: the spec files of a worker share the helper, so the hook would
 * run for the first of these files only
 */
function refuseHookOfHelper(caller) {
  const isOfJest = caller.stack.split('\n')[1]?.includes('jest-circus');
  if (!isOfJest && !caller.stack.includes('.spec.'))
    throw new Error(`a helper calls a hook at its top level; call the hook in the spec:\n${caller.stack}`);
}

/** @throws Error when a title names a rule that test/rules.json does not have */
function refuseUnknownRules(title) {
  for (const id of /\[([\w-]+\.[\w.-]+(?:, [\w.-]+)*)\]$/.exec(title)?.[1].split(', ') ?? [])
    if (!RULE_IDS.has(id)) throw new Error(`there is no rule ${id} in test/rules.json: "${title}"`);
}
