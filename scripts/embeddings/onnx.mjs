// Writes ONNX files: the few messages of onnx.proto that a graph needs, with the writer of @bufbuild/protobuf.
// The numbers of the fields are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

const IR_VERSION = 8;
const OPSET = 17;
const TYPES = { float: 1, uint8: 2, int8: 3, int64: 7 };
const ATTRIBUTES = { float: 1, int: 2, ints: 7 };

/** A graph with one input and one output: nodes in the order in which they are added. */
export class Graph {
  nodes = [];
  tensors = [];

  /** Adds a constant. @param type float, uint8, int8, int64 @param data a typed array of that type */
  constant(name, type, shape, data) {
    this.tensors.push(tensor(name, type, shape, data));
    return name;
  }

  /** Adds a node. @returns the name of its first output */
  node(operation, inputs, attributes = {}, outputs = [`${operation}_${this.nodes.length}`]) {
    this.nodes.push(nodeOf(operation, inputs, attributes, outputs));
    return outputs[0];
  }

  /**
   * Returns the bytes of the model.
   * @param input, output {name, type, shape}; a text in a shape is a dimension of any size
   */
  model(input, output, description) {
    const writer = new BinaryWriter();
    writer.tag(1, WireType.Varint).int64(IR_VERSION);
    writer.tag(2, WireType.LengthDelimited).string('earshot');
    writer.tag(6, WireType.LengthDelimited).string(description);
    message(writer, 7, (graph) => {
      for (const node of this.nodes) graph.tag(1, WireType.LengthDelimited).bytes(node);
      graph.tag(2, WireType.LengthDelimited).string('sentence-encoder');
      for (const one of this.tensors) graph.tag(5, WireType.LengthDelimited).bytes(one);
      message(graph, 11, (value) => valueInfo(value, input));
      message(graph, 12, (value) => valueInfo(value, output));
    });
    message(writer, 8, (opset) => opset.tag(2, WireType.Varint).int64(OPSET));
    return writer.finish();
  }
}

function message(writer, field, write) {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}

function tensor(name, type, shape, data) {
  const writer = new BinaryWriter();
  for (const size of shape) writer.tag(1, WireType.Varint).int64(size);
  writer.tag(2, WireType.Varint).int32(TYPES[type]);
  writer.tag(8, WireType.LengthDelimited).string(name);
  writer
    .tag(9, WireType.LengthDelimited)
    .bytes(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return writer.finish();
}

function nodeOf(operation, inputs, attributes, outputs) {
  const writer = new BinaryWriter();
  for (const input of inputs) writer.tag(1, WireType.LengthDelimited).string(input);
  for (const output of outputs) writer.tag(2, WireType.LengthDelimited).string(output);
  writer.tag(3, WireType.LengthDelimited).string(outputs[0]);
  writer.tag(4, WireType.LengthDelimited).string(operation);
  for (const [name, value] of Object.entries(attributes))
    message(writer, 5, (one) => attribute(one, name, value));
  return writer.finish();
}

/** @param value a whole number, an array of them, or {float} */
function attribute(writer, name, value) {
  writer.tag(1, WireType.LengthDelimited).string(name);
  if (Array.isArray(value)) {
    for (const one of value) writer.tag(8, WireType.Varint).int64(one);
    writer.tag(20, WireType.Varint).int32(ATTRIBUTES.ints);
  } else if (typeof value === 'object') {
    writer.tag(2, WireType.Bit32).float(value.float);
    writer.tag(20, WireType.Varint).int32(ATTRIBUTES.float);
  } else {
    writer.tag(3, WireType.Varint).int64(value);
    writer.tag(20, WireType.Varint).int32(ATTRIBUTES.int);
  }
}

function valueInfo(writer, { name, type, shape }) {
  writer.tag(1, WireType.LengthDelimited).string(name);
  message(writer, 2, (of) =>
    message(of, 1, (tensorType) => {
      tensorType.tag(1, WireType.Varint).int32(TYPES[type]);
      message(tensorType, 2, (dimensions) => {
        for (const size of shape)
          message(dimensions, 1, (one) =>
            typeof size === 'string'
              ? one.tag(2, WireType.LengthDelimited).string(size)
              : one.tag(1, WireType.Varint).int64(size),
          );
      });
    }),
  );
}
