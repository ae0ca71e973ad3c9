const NEEDED = [20, 19];

/** Ends the process with one clear line if the version of Node is too old. */
export function refuseOldNode(tell) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return;
  tell(`Earshot needs Node.js ${NEEDED.join('.')} or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
