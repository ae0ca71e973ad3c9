import fc from 'fast-check';
import { addProducts } from './products.js';

it('addProducts computes exactly the same sums as a loop over single rows', () => {
  const floats = (length: number) =>
    fc
      .array(fc.float({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: length, maxLength: length })
      .map((values) => Float32Array.from(values));
  const cases = fc
    .record({ rows: fc.nat(11), columns: fc.nat(9), unused: fc.nat(2) })
    .chain(({ rows, columns, unused }) =>
      fc.record({
        stride: fc.constant(columns + unused),
        sums: floats(rows),
        matrix: floats(rows * (columns + unused)),
        vector: floats(columns),
      }),
    );
  fc.assert(
    fc.property(cases, ({ stride, sums, matrix, vector }) => {
      const found = Float64Array.from(sums);
      addProducts(found, matrix, stride, vector);
      const wanted = Float64Array.from(sums, (start, row) =>
        vector.reduce((sum, value, column) => sum + matrix[row * stride + column]! * value, start),
      );
      expect(found).toEqual(wanted);
    }),
  );
});
