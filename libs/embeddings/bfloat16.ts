// A bfloat16 is the upper half of a 32-bit float: sign, 8 bits of exponent, 7 bits of fraction.

/** Returns the numbers as bfloat16, little-endian, two bytes each, rounded to nearest even. */
export function toBfloat16(numbers: Float32Array): Uint8Array {
  const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  const view = new DataView(new ArrayBuffer(numbers.length * 2));
  bits.forEach((value, n) => view.setUint16(n * 2, (value + 0x7fff + ((value >>> 16) & 1)) >>> 16, true));
  return new Uint8Array(view.buffer);
}

/** Returns the numbers from bytes that `toBfloat16` has returned. */
export function fromBfloat16(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bits = new Uint32Array(bytes.byteLength >> 1);
  for (let n = 0; n < bits.length; n += 1) bits[n] = view.getUint16(n * 2, true) << 16;
  return new Float32Array(bits.buffer);
}
