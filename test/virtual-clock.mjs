// Programs under test load this file (NODE_OPTIONS=--import=…). From VIRTUAL_EPOCH_MS on, their time runs VIRTUAL_SPEED
// times as fast. Waits of code in `apps` are shortened. Waits of code in `libs`, of packages and of connections are not
// shortened, because the network does not become faster.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const epoch = Number(process.env.VIRTUAL_EPOCH_MS);
const speed = Number(process.env.VIRTUAL_SPEED);
const RealDate = Date;
const now = () => Math.floor(epoch + (RealDate.now() - epoch) * speed);

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length > 0 ? args : [now()], made === globalThis.Date ? target : made),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

/**
 * Returns whether code of a service has called the replaced function. The caller is in the fourth line of the stack,
 * after the error, this function and the replaced function.
 */
const isOfService = () => /\/dist\/apps\//.test(new Error().stack?.split('\n')[3] ?? '');

for (const name of ['setTimeout', 'setInterval']) {
  const real = globalThis[name];
  globalThis[name] = Object.assign(
    (work, ms, ...rest) => real(work, isOfService() ? Math.ceil(ms / speed) : ms, ...rest),
    real,
  );
}
const realWait = timers.setTimeout;
timers.setTimeout = (ms, ...rest) => realWait(isOfService() ? Math.ceil(ms / speed) : ms, ...rest);
syncBuiltinESMExports();
