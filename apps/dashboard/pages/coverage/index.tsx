import { NotBuilt } from '../../parts/not-built.js';

export function Component() {
  return <NotBuilt title="Coverage" />;
}
