export { startSimulator } from './simulator.js';
export type { Simulator, SimulatorOptions } from './simulator.js';
export { SIMULATED_SOURCES } from './sources/index.js';
export type { SimPost } from './world/post.js';
export type { PostChange, PostInput, World } from './world/world.js';
export type { Delivery, Receiver } from './receiver/receiver.js';
export type { Behaviour } from './receiver/behaviour.js';
export type { Fault, FaultKind } from './faults.js';
export { simulatedSources } from './environment.js';
