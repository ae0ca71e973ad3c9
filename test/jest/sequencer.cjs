const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

// Each of these files takes from half a minute to three minutes, and mostly waits: for leases to expire, or
// for messages to be delivered again. In a fresh clone jest knows no durations, so it could start one of
// these files last, which would then run alone. The browser tests need much processor time, so only one of
// them is at the start of the list.
const SLOWEST = [
  'test/browser/pages.spec.ts',
  'test/crash.spec.ts',
  'test/restore.long.spec.ts',
  'test/soak.long.spec.ts',
  'test/sources.spec.ts',
  'apps/earshot/projections.long.spec.ts',
  'test/interface/purge-marker.int.spec.ts',
  'libs/decisions/rebuild.long.spec.ts',
  'test/replicas.long.spec.ts',
  'test/hostile-feed.long.spec.ts',
  'test/interface/replays.int.spec.ts',
  'test/master-key.long.spec.ts',
  'test/replay-crash.long.spec.ts',
  'test/crash-readings.spec.ts',
  'test/browser/first-keyword.spec.ts',
  'test/waiting-readings.int.spec.ts',
  'test/explore.spec.ts',
  'test/crash-alerts.spec.ts',
  'test/interface/roles.int.spec.ts',
  'test/interface/sign-in-attacks.int.spec.ts',
  'test/browser/member-tasks.spec.ts',
  'test/interface/channels.int.spec.ts',
  'test/interface/labels.int.spec.ts',
  'test/purge-beside-work.long.spec.ts',
  'libs/messaging/durable-runner.int.spec.ts',
  'test/end-to-end.spec.ts',
  'test/source-faults.spec.ts',
];

/** Begins with the slowest spec files; the others follow in jest's own order. */
module.exports = class extends Sequencer {
  sort(tests) {
    const placeOf = ({ path, context }) => SLOWEST.indexOf(relative(context.config.rootDir, path));
    const slow = tests.filter((test) => placeOf(test) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
    return [...slow, ...super.sort(tests.filter((test) => placeOf(test) < 0))];
  }
};
